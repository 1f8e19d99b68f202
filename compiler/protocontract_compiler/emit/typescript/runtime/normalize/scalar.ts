// The normalizer "scalar": the cell of a table, read as a number or bool, and made its canonical text.
//
// White space at both ends, a plus and leading zeros are accepted; grouping and exponents are not.

import { describe, refusal, type Refusal } from "../refusal.js";
import { caseFolded } from "./casefold.js";
import { trimmed } from "./white_space.js";

/** The canonical text of a cell, the cell itself where it is that already, or why it is refused. */
export type CellNormalizer = (value: string) => string | Refusal;

/** An integer type, with its smallest and largest value. */
export interface IntegerOptions {
  readonly type: string;
  readonly low: bigint;
  readonly high: bigint;
  readonly foldWidth?: boolean;
}

/** A cell that holds an integer. */
export function integerCell({ type, low, high, foldWidth = false }: IntegerOptions): CellNormalizer {
  return (value) => {
    const parts = number(value, type, foldWidth);
    if ("refused" in parts) {
      return parts;
    }
    const result = "special" in parts ? undefined : whole(parts);
    if (result === undefined) {
      return refusal("scalar.inexact", `not an integer; expected ${type}, got ${describe(value)}`);
    }
    if (result < low || result > high) {
      return refusal("scalar.range", `an integer out of range; expected ${type}, got ${describe(value)}`);
    }
    return String(result);
  };
}

/** A floating-point type. */
export interface FloatOptions {
  readonly type: "float" | "double";
  readonly foldWidth?: boolean;
  /** A number that the type cannot hold exactly is refused. */
  readonly exact?: boolean;
  /** NaN and infinity are refused. */
  readonly finite?: boolean;
}

/** A cell that holds a floating-point number. */
export function floatCell({ type, foldWidth = false, exact = false, finite = true }: FloatOptions): CellNormalizer {
  return (value) => {
    const parts = number(value, type, foldWidth);
    if ("refused" in parts) {
      return parts;
    }
    if ("special" in parts) {
      return finite
        ? refusal("scalar.finite", `not a finite number; expected ${type}, got ${describe(value)}`)
        : parts.special;
    }
    const nearest = Number(`${parts.sign}${parts.whole}.${parts.fraction}`);
    const result = type === "float" ? Math.fround(nearest) : nearest;
    if (!Number.isFinite(result)) {
      return refusal("scalar.range", `a number out of range; expected ${type}, got ${describe(value)}`);
    }
    if (exact && !same(parts, result)) {
      return refusal("scalar.inexact", `a number that ${type} cannot hold exactly, got ${describe(value)}`);
    }
    return plain(type === "float" ? shortestSingle(result) : String(result), result);
  };
}

/** The words of a bool, beside true and false. */
export interface BoolOptions {
  readonly words?: readonly (readonly [string, boolean])[];
  readonly foldWidth?: boolean;
}

/** A cell that holds a bool. */
export function boolCell({ words = [], foldWidth = false }: BoolOptions): CellNormalizer {
  const read = (text: string): string => caseFolded(trimmed(foldWidth ? narrow(text) : text));
  const known = new Map([
    ["true", true],
    ["false", false],
  ]);
  for (const [word, meaning] of words) {
    known.set(read(word), meaning);
  }
  return (value) => {
    const meaning = known.get(read(value));
    return meaning === undefined
      ? refusal("scalar.syntax", `no word for a bool; expected one of ${known.size}, got ${describe(value)}`)
      : String(meaning);
  };
}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers as they are written

interface Parts {
  readonly sign: string;
  readonly whole: string;
  readonly fraction: string;
}

interface Special {
  readonly special: string;
}

function number(value: string, expected: string, foldWidth: boolean): Parts | Special | Refusal {
  const written = trimmed(foldWidth ? narrow(value) : value);
  if (written === "NaN" || written === "Infinity" || written === "-Infinity") {
    return { special: written };
  }
  const found = /^([+-]?)([0-9]+)(?:\.([0-9]+))?$/.exec(written);
  if (found !== null) {
    return { sign: found[1] ?? "", whole: found[2] ?? "", fraction: found[3] ?? "" };
  }
  if (/^[+-]?[0-9.,]+[eE][+-]?[0-9]+$/.test(written)) {
    const what = "an exponent, as left by a program that cut digits";
    return refusal("scalar.syntax", `${what}; expected ${expected} in plain digits, got ${describe(value)}`);
  }
  return refusal("scalar.syntax", `not a number; expected ${expected}, got ${describe(value)}`);
}

/** Full-width forms of ASCII as ASCII, and the ideographic space as a space. */
function narrow(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (each) => String.fromCharCode(each.charCodeAt(0) - 0xfee0))
    .replaceAll("\u3000", " ");
}

/** The integer that the parts denote; undefined where it is none. */
function whole({ sign, whole, fraction }: Parts): bigint | undefined {
  if (/[1-9]/.test(fraction)) {
    return undefined;
  }
  const digits = whole.replace(/^0+/, "");
  // Longer than every type has, and slow to read where somebody sends a million digits.
  const result = BigInt(digits.length > 25 ? "9".repeat(25) : digits);
  return sign === "-" ? -result : result;
}

/** Whether a double is exactly the number that the parts denote. */
function same({ sign, whole, fraction }: Parts, result: number): boolean {
  const decimals = fraction.replace(/0+$/, "");
  const digits = `${whole}${decimals}`.replace(/^0+/, "");
  if (digits.length > 1_100 || decimals.length > 1_100) {
    return false; // no double has that many
  }
  const scale = 1_100n; // 2^-1100 divides every double
  const exact = BigInt(digits) * 2n ** scale;
  const held = scaled(Math.abs(result), scale) * 10n ** BigInt(decimals.length);
  return exact === held && (digits === "" || (sign === "-") === result < 0);
}

/** A double that is not negative, times a power of two that makes it an integer. */
function scaled(value: number, scale: bigint): bigint {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const exponent = bits.getUint32(0) >>> 20;
  const fraction = bits.getBigUint64(0) & 0xf_ffff_ffff_ffffn;
  const significand = exponent === 0 ? fraction : fraction | 0x10_0000_0000_0000n;
  return significand << (scale + BigInt(Math.max(exponent, 1)) - 1075n);
}

/** The shortest digits that single precision reads as this number. */
function shortestSingle(value: number): string {
  for (let size = 1; size < 17; size += 1) {
    const digits = rounded(value, size);
    if (Math.fround(Number(digits)) === value) {
      return digits;
    }
  }
  return value.toPrecision(17);
}

/** As toPrecision, but of two that are as near the even one. */
function rounded(value: number, size: number): string {
  const digits = value.toPrecision(size);
  const exact = value.toExponential(60);
  const [mantissa = "", exponent = ""] = exact.split("e");
  const all = mantissa.replace(/[-.]/g, "");
  if (!/^50*$/.test(all.slice(size)) || Number(all.charAt(size - 1)) % 2 === 1) {
    return digits;
  }
  // A tie, which toPrecision rounds away from zero: the digits before it are even and stay.
  const kept = all.slice(0, size);
  return `${value < 0 ? "-" : ""}${kept.charAt(0)}.${kept.slice(1)}0e${exponent}`;
}

/** Digits without exponent and without superfluous zeros. */
function plain(digits: string, value: number): string {
  const [mantissa = "", exponent = "0"] = digits.replace(/^-/, "").split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const point = whole.length + Number(exponent);
  const all = `${"0".repeat(Math.max(1 - point, 0))}${whole}${fraction}`.padEnd(point, "0");
  const place = Math.max(point, 1);
  const before = all.slice(0, place).replace(/^0+(?=[0-9])/, "");
  const behind = all.slice(place).replace(/0+$/, "");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return `${sign}${before}${behind === "" ? "" : `.${behind}`}`;
}
