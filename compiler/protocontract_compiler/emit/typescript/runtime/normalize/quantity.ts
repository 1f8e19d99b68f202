// The normalizer "quantity": a number and a unit, as an exact number in the canonical unit.

import { size } from "../codepoints.js";
import { describe, refusal, type Refusal } from "../refusal.js";
import { caseFolded } from "./casefold.js";
import { MINUS_WORDS, numberRun, readNumber, type Marks } from "./numbers.js";
import { BIDI_MARKS, decimalText, fold, scriptOf, shifted, type Decimal } from "./numerals.js";
import { plus, rational, rounded, times, type Rational } from "./rational.js";
import { isWord, parseUnit, sameDimension, type Unit } from "./units.js";
import { isWhiteSpace } from "./white_space.js";

/** The options of one field. */
export interface QuantityOptions {
  /** The canonical unit; a bare number is in it. */
  readonly unit: string;
  /** The units that may occur, the canonical one among them, and how each becomes it: value * factor + offset. */
  readonly ways: readonly Way[];
  readonly marks: Marks;
  /** Digits behind the point that the result is rounded to, half even. */
  readonly scale?: number;
}

/** A unit that converts: with no factor, it does not. */
export interface Way {
  readonly unit: string;
  /** Numerator and denominator. */
  readonly factor?: readonly [bigint, bigint];
  readonly offset?: readonly [bigint, bigint];
  /** Whether every decimal number has an image that is a finite decimal. */
  readonly finite?: boolean;
}

/** A decimal number with its sign. */
export interface Signed extends Decimal {
  readonly negative: boolean;
}

/** The number in the canonical unit (a number that is right already is itself), or why it is refused. */
export type QuantityNormalizer = (value: string | number | bigint) => Signed | number | bigint | Refusal;

const MAX_LENGTH = 200;
const MOST_PLACES = 60;
const MOST_WORDS = 4;
// {} is the kind and size of the value, {unit} the canonical unit.
const RULES: Readonly<Record<string, readonly [string, string]>> = {
  too_long: ["syntax", `too long; expected at most ${MAX_LENGTH} characters, got {}`],
  not_finite: ["syntax", "not a finite number; expected a number with an end, got {}"],
  no_amount: ["syntax", "no number; expected a number and a unit, got {}"],
  malformed_number: ["syntax", "malformed number; expected well-formed groups and one decimal mark, got {}"],
  ambiguous_number: ["ambiguous", "two readings of {}; expected a number whose decimal mark can be told"],
  sign: ["syntax", "a sign that cannot be told; expected one minus next to the number, got {}"],
  exponent: ["syntax", "an exponent; expected plain notation, got {}"],
  several: ["syntax", "several numbers; expected one number and a unit, got {}"],
  unit: ["unit", "unknown unit; expected a unit such as {unit}, got {}"],
  not_allowed: ["unit", "a unit that is not allowed here, got {}"],
  dimension: ["dimension", "a unit of another dimension; expected one that converts to {unit}, got {}"],
  scale: ["scale", "a conversion without a finite decimal result; declare scale to round it, got {}"],
};

function refused(kind: string, value: unknown, options: QuantityOptions): Refusal {
  const [rule, message] = RULES[kind] as readonly [string, string];
  return refusal(`quantity.${rule}`, message.replace("{}", () => describe(value)).replace("{unit}", () => options.unit));
}

/** The normalizer with these options. */
export function quantityNormalizer(options: QuantityOptions): QuantityNormalizer {
  return (value) => {
    if (typeof value === "string") {
      return readText(value, options);
    }
    if (typeof value === "bigint") {
      return value;
    }
    if (!Number.isFinite(value)) {
      return refused("not_finite", value, options);
    }
    if (options.scale === undefined || Number.isInteger(value)) {
      return value;
    }
    // A double stands for the shortest number that reads back as it, which is what was written.
    const exact = rationalOf(String(value));
    const result = roundedTo(exact, options.scale);
    const image = rational(result.negative ? -result.units : result.units, 10n ** BigInt(result.scale));
    return image.n === exact.n && image.d === exact.d ? value : result;
  };
}

/** The number that JavaScript writes: with an exponent where it is long. */
function rationalOf(written: string): Rational {
  const [mantissa = "", exponent = "0"] = written.split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const places = Number(exponent) - fraction.length;
  const units = BigInt(`${whole}${fraction}`);
  return places < 0 ? rational(units, 10n ** BigInt(-places)) : rational(units * 10n ** BigInt(places), 1n);
}

function readText(value: string, options: QuantityOptions): Signed | Refusal {
  if (size(value) > MAX_LENGTH) {
    return refused("too_long", value, options);
  }
  const bare = stripped(value);
  if (/[\0-\x1f\x7f-\x9f\ud800-\udfff]/u.test(bare)) {
    return refused("malformed_number", value, options);
  }
  const folded = fold(bare);
  const { text } = folded;
  const { marks } = options;
  let start = 0;
  if (marks.lenient) {
    const dropped = /^[^0-9]*(?<![-–])[ \u2003:](?=[+-]?[.,]?[0-9])/.exec(text)?.[0];
    if (dropped !== undefined) {
      start = dropped.length;
      const words = caseFolded(dropped).split(/[ \u2003]+/);
      if (/(?:^|[ \u2003(])[-–—]/.test(dropped) || words.some((word) => MINUS_WORDS.includes(word))) {
        return refused("sign", value, options);
      }
    }
  }
  const negative = text.charAt(start) === "-";
  if (negative || text.charAt(start) === "+") {
    start += 1;
  }
  const run = numberRun(text, start);
  if (run === "") {
    return refused("no_amount", value, options);
  }
  let end = start + run.length;
  const zero = scriptOf(folded, start, end);
  let number = zero === undefined ? ("malformed_number" as const) : readNumber(run, marks, zero);
  if (typeof number === "string") {
    return refused(number, value, options);
  }
  const exponent = /^[eE]([+-]?[0-9]+)/.exec(text.slice(end));
  if (exponent !== null && !isWord([...text.slice(end + exponent[0].length)][0] ?? "")) {
    const places = exponent[1] as string;
    if (!marks.lenient || places.replace(/^[-+0]+/, "").length > 2 || Math.abs(Number(places)) > MOST_PLACES) {
      return refused("exponent", value, options);
    }
    number = shifted(number, Number(places));
    end += exponent[0].length;
  }
  let unitText = text.slice(end).replace(/^[ \u2003]+|[ \u2003]+$/g, "");
  if (/(?:^|[ \u2003,;:([~=–])[+-]?[.,]?[0-9](?!\/)|^-/.test(unitText)) {
    return refused("several", value, options);
  }
  if (marks.lenient && unitText !== options.unit) {
    unitText = withoutWords(unitText);
  }
  const exact = rational(negative ? -number.units : number.units, 10n ** BigInt(number.scale));
  if (unitText === "" || unitText === options.unit) {
    return options.scale === undefined ? { ...number, negative } : roundedTo(exact, options.scale);
  }
  return converted(value, exact, unitText, options);
}

/** Without white space and marks of the writing direction at the ends. */
function stripped(value: string): string {
  const isOuter = (character: string): boolean => isWhiteSpace(character) || BIDI_MARKS.includes(character);
  let start = 0;
  while (start < value.length && isOuter(value.charAt(start))) {
    start += 1;
  }
  let end = value.length;
  while (end > start && isOuter(value.charAt(end - 1))) {
    end -= 1;
  }
  return value.slice(start, end);
}

/** The unit at the beginning of a text that goes on: "kg netto". All of it where it begins with none. */
function withoutWords(unitText: string): string {
  const words = unitText.split(/[ \u2003]+/);
  for (let count = Math.min(words.length, MOST_WORDS); count > 0; count -= 1) {
    const piece = words.slice(0, count).join(" ").replace(/[.,;!]+$/, "");
    if (parseUnit(piece) !== undefined) {
      return piece;
    }
  }
  return unitText;
}

function converted(value: string, exact: Rational, unitText: string, options: QuantityOptions): Signed | Refusal {
  const target = parseUnit(options.unit) as Unit;
  const unit = parseUnit(unitText);
  if (unit === undefined) {
    return refused("unit", value, options);
  }
  if (!sameDimension(unit, target)) {
    return refused("dimension", value, options);
  }
  const way = options.ways.find((each) => parseUnit(each.unit)?.key === unit.key);
  if (way === undefined) {
    return refused("not_allowed", value, options);
  }
  const { factor, offset = [0n, 1n], finite } = way;
  if (factor === undefined) {
    return refused("unit", value, options);
  }
  if (options.scale === undefined && finite !== true) {
    return refused("scale", value, options);
  }
  const image = plus(times(exact, rational(...factor)), rational(...offset));
  return options.scale === undefined ? decimalOf(image) : roundedTo(image, options.scale);
}

/** Rounded to `scale` digits behind the point, half even. */
function roundedTo(exact: Rational, scale: number): Signed {
  const units = rounded(times(exact, { n: 10n ** BigInt(scale), d: 1n }));
  return { units: units < 0n ? -units : units, scale, negative: units < 0n };
}

/** A fraction whose denominator has no prime but 2 and 5, without superfluous zeros. */
function decimalOf({ n, d }: Rational): Signed {
  let scale = 0;
  let power = 1n;
  while (power % d !== 0n) {
    scale += 1;
    power *= 10n;
  }
  const units = (n * power) / d;
  return { units: units < 0n ? -units : units, scale, negative: units < 0n };
}

// ---------------------------------------------------------------------------------------------------------------------
// In the type of the field that receives it

const BEYOND = "a number that the field cannot hold; expected one of its type";

/** As a plain decimal text. */
export function quantityText(quantity: Signed | number | bigint): string {
  return typeof quantity === "object" ? decimalText(quantity, quantity.negative) : String(quantity);
}

/** As the nearest number of double, or single, precision; one beyond the largest is refused. */
export function quantityNumber(quantity: Signed | number | bigint, single: boolean): number | Refusal {
  const nearest = Number(quantityText(quantity));
  const result = single ? Math.fround(nearest) : nearest;
  return Number.isFinite(result) ? result : refusal("quantity.range", BEYOND);
}

/** As an integer within bounds; a fraction is refused. */
export function quantityInteger(quantity: Signed | number | bigint, low: bigint, high: bigint): bigint | Refusal {
  const whole = wholeOf(quantity);
  if (whole === undefined) {
    const kind = typeof quantity === "object" ? "a message" : describe(quantity);
    return refusal("quantity.scale", `a fraction for a whole number of the unit; expected none, got ${kind}`);
  }
  return whole < low || whole > high ? refusal("quantity.range", BEYOND) : whole;
}

function wholeOf(quantity: Signed | number | bigint): bigint | undefined {
  if (typeof quantity !== "object") {
    return typeof quantity === "bigint" || Number.isInteger(quantity) ? BigInt(quantity) : undefined;
  }
  const divisor = 10n ** BigInt(quantity.scale);
  if (quantity.units % divisor !== 0n) {
    return undefined;
  }
  return quantity.negative ? -(quantity.units / divisor) : quantity.units / divisor;
}
