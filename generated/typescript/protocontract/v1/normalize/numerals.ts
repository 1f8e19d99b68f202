// Written by protoc-gen-contract 0.1.0. Do not edit.
// Characters of numbers: what is folded before a number is read, digits of every script, and Chinese numerals.

import { COUNTERS, ZEROS } from "./data/numerals.js";

/** White space that separates but never groups is folded to this one. */
export const GAP = "\u2003";
export const BIDI_MARKS = "\u200e\u200f\u061c";

/** An exact decimal number: units / 10^scale. The scale counts the fraction digits as written. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** A number times 10^places. */
export function shifted({ units, scale }: Decimal, places: number): Decimal {
  const left = scale - places;
  return left < 0 ? { units: units * 10n ** BigInt(-left), scale: 0 } : { units, scale: left };
}

/** Plain notation: no exponent, no grouping, no superfluous leading zeros. */
export function decimalText({ units, scale }: Decimal, negative: boolean): string {
  const digits = String(units).padStart(scale + 1, "0");
  const text = scale > 0 ? `${digits.slice(0, -scale)}.${digits.slice(-scale)}` : digits;
  return negative && units > 0n ? `-${text}` : text;
}

/** A text whose characters are folded one by one. */
export interface Folded {
  readonly text: string;
  /** The script of every digit that is not ASCII, by the code point of that script's zero. */
  readonly zeros: ReadonlyMap<number, number>;
  /** Whether a character has a numeric value and is no digit of a number: a superscript, a fraction, a circled number. */
  readonly odd: boolean;
  /** Where the characters stood before, where that is another place: digits beyond U+FFFF became one code unit. */
  readonly places: readonly number[] | undefined;
}

/** Where a place of a folded text was before. */
export function placeBefore({ places }: Folded, at: number): number {
  return places === undefined ? at : (places[at] as number);
}

/** Full-width forms, minus signs, spaces, apostrophes and the digits of all scripts as their ASCII characters. */
export function fold(text: string): Folded {
  if (/^[\0-\x7f]*$/.test(text)) {
    return { text, zeros: new Map(), odd: false, places: undefined };
  }
  const zeros = new Map<number, number>();
  let odd = false;
  let folded = "";
  let before = 0;
  const places: number[] = [];
  for (const character of text) {
    let plain = foldedCharacter(character);
    const point = plain.codePointAt(0) as number;
    const zero = point > 0x7f ? zeroOf(point) : undefined;
    if (zero !== undefined) {
      zeros.set(folded.length, zero);
      plain = String(point - zero);
    } else {
      odd ||= isCounter(plain);
    }
    for (let unit = 0; unit < plain.length; unit += 1) {
      places.push(before + unit);
    }
    folded += plain;
    before += character.length;
  }
  places.push(before);
  return { text: folded, zeros, odd, places: folded.length === text.length ? undefined : places };
}

const SIGNS: Readonly<Record<string, string>> = {
  "\uffe0": "¢", "\uffe1": "£", "\uffe5": "¥", "\uffe6": "₩", "\u2212": "-", "\ufe63": "-", "\u2019": "'",
};

function foldedCharacter(character: string): string {
  if (character >= "\uff01" && character <= "\uff5e") {
    return String.fromCharCode(character.charCodeAt(0) - 0xfee0);
  }
  if (/[\xa0\u202f\u2009\u2007\u3000]/.test(character)) {
    return " "; // these may stand between groups of digits
  }
  return /[\u1680\u2000-\u200a\u2028\u2029\u205f]/.test(character) ? GAP : (SIGNS[character] ?? character);
}

let zeros: readonly number[] | undefined;
let counters: readonly (readonly [number, number])[] | undefined;

function numbersOf(packed: string): number[] {
  let last = 0;
  return packed.split(" ").map((each) => (last += Number.parseInt(each, 36)));
}

/** The zero of the script that a digit is of. */
function zeroOf(point: number): number | undefined {
  zeros ??= numbersOf(ZEROS);
  return zeros.find((zero) => point >= zero && point < zero + 10);
}

/** Whether a character is a decimal digit of any script. */
export function isDigit(character: string): boolean {
  const point = character.codePointAt(0) ?? 0;
  return point < 0x80 ? point >= 0x30 && point <= 0x39 : zeroOf(point) !== undefined;
}

/** Whether a character is a numeral that is no digit: categories No and Nl, but the Chinese zero. */
export function isCounter(character: string): boolean {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x80) {
    return false;
  }
  if (counters === undefined) {
    const bounds = numbersOf(COUNTERS);
    counters = bounds.flatMap((first, at) => (at % 2 === 0 ? [[first, bounds[at + 1] as number] as const] : []));
  }
  return point !== 0x3007 && counters.some(([first, last]) => first <= point && point <= last);
}

/** The zero of the one script that the digits in a stretch belong to; undefined where there are several. */
export function scriptOf({ text, zeros: held }: Folded, start: number, end: number): number | undefined {
  if (held.size === 0) {
    return 0x30;
  }
  const found = new Set<number>();
  for (let at = start; at < end; at += 1) {
    if (text.charAt(at) >= "0" && text.charAt(at) <= "9") {
      found.add(held.get(at) ?? 0x30);
    }
  }
  return found.size === 1 ? [...found][0] : undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// Chinese numerals: plain, banker's and traditional forms, Japan's banker's forms, and Korea's units

const DIGIT_WORDS = ["零〇", "一壹弌壱", "二贰貳弍弐两兩", "三叁參叄参弎", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖"];
const UNIT_WORDS: readonly (readonly [string, number])[] = [
  ["十拾", 1], ["百佰", 2], ["千仟천", 3], ["万萬만", 4], ["亿億억", 8], ["兆조", 12],
];
const DIGITS: ReadonlyMap<Element, number> = /* @__PURE__ */ new Map(
  DIGIT_WORDS.flatMap((all, digit) => [...all].map((each) => [each, digit] as const)),
);
const UNITS: ReadonlyMap<Element, number> = /* @__PURE__ */ new Map(
  UNIT_WORDS.flatMap(([all, exponent]) => [...all].map((each) => [each, exponent] as const)),
);
export const CJK_DIGITS = "零〇一壹弌壱二贰貳弍弐两兩三叁參叄参弎四肆五伍六陆陸七柒八捌九玖";
export const CJK_UNITS = "十拾百佰千仟천万萬만亿億억兆조";
export const CJK_POINTS = "点點";

/** A numeral, or a number in digits. */
export type Element = Decimal | string;

// No number in use comes near; bounds the recursion, and the size of numbers, in texts of any length.
const MOST_ELEMENTS = 60;

/**
 * The value of a run of Chinese numerals and of numbers in digits that stand between them (3千5百, 4.287亿); undefined
 * where the run is not well formed, or colloquial: 一万五 may be meant as 15,000.
 */
export function cjkNumber(elements: readonly Element[]): Decimal | undefined {
  if (elements.length > MOST_ELEMENTS) {
    return undefined;
  }
  const point = elements.findIndex((each) => typeof each === "string" && CJK_POINTS.includes(each));
  if (point >= 0) {
    return withPoint(elements.slice(0, point), elements.slice(point + 1));
  }
  const first = elements[0] as Element;
  if (typeof first !== "string") {
    const places = product(elements.slice(1));
    if (places !== undefined) {
      return shifted(first, places);
    }
    if (first.scale > 0) {
      return undefined;
    }
  }
  const value = integer(elements);
  return value === undefined ? undefined : { units: value, scale: 0 };
}

function withPoint(before: readonly Element[], after: readonly Element[]): Decimal | undefined {
  if (before.length === 0 || after.length === 0 || ![...before, ...after].every((each) => typeof each === "string")) {
    return undefined;
  }
  const whole = integer(before);
  let digits = "";
  let places: number | undefined = 0;
  for (const [at, element] of after.entries()) {
    if (!DIGITS.has(element) || element === "两" || element === "兩") {
      places = product(after.slice(at));
      break;
    }
    digits += String(DIGITS.get(element));
  }
  if (whole === undefined || places === undefined || digits === "") {
    return undefined;
  }
  const units = whole * 10n ** BigInt(digits.length) + BigInt(digits);
  return shifted({ units, scale: digits.length }, places);
}

/** The exponent of a trailing run of units that multiplies what stands before it: 百万, 千万, 万亿, but not 万千. */
function product(elements: readonly Element[]): number | undefined {
  const exponents = elements.map((each) => UNITS.get(each));
  if (elements.length === 0 || exponents.includes(undefined)) {
    return undefined;
  }
  const known = exponents as number[];
  const written = known.map((each) => (each === 12 ? "C" : String(each))).join("");
  return /^[123]?4?[8C]?$/.test(written) ? known.reduce((sum, each) => sum + each, 0) : undefined;
}

/** Everything below 10^16: split at the highest unit, then what stands before and behind it. */
function integer(elements: readonly Element[]): bigint | undefined {
  if (elements.length === 0) {
    return undefined;
  }
  for (const exponent of [12, 8, 4]) {
    for (let at = elements.length - 1; at >= 0; at -= 1) {
      if (UNITS.get(elements[at] as Element) === exponent) {
        const left = integer(elements.slice(0, at));
        const right = rest(elements.slice(at + 1), exponent);
        if (left === undefined || left === 0n || left >= 10n ** BigInt(Math.min(exponent, 8)) || right === undefined) {
          return undefined;
        }
        return left * 10n ** BigInt(exponent) + right;
      }
    }
  }
  return section(elements);
}

/** What follows a unit: smaller than it, and no bare digit without 零 before it (一万五). */
function rest(elements: readonly Element[], exponent: number): bigint | undefined {
  const [first] = elements;
  if (first === undefined) {
    return 0n;
  }
  const zero = first === "零" || first === "〇";
  const value = integer(zero && elements.length > 1 ? elements.slice(1) : elements);
  if (value === undefined || value >= 10n ** BigInt(exponent) || (value < 10n && !zero && elements.length === 1)) {
    return undefined;
  }
  return value;
}

/** A number below 10,000, or digits written one after the other (二〇五). */
function section(elements: readonly Element[]): bigint | undefined {
  const [first] = elements;
  if (elements.length === 1 && typeof first === "object") {
    return first.scale > 0 ? undefined : first.units;
  }
  if (elements.every((each) => DIGITS.has(each))) {
    const digits = elements.map((each) => DIGITS.get(each) as number);
    if (elements.length > 1 && (elements.includes("两") || elements.includes("兩"))) {
      return undefined;
    }
    // 七八, 三五: seven or eight, three to five.
    return digits.length === 2 && !digits.includes(0) ? undefined : BigInt(digits.join(""));
  }
  let total = 0n;
  let zero = false;
  let last = 4;
  let pending: bigint | undefined;
  for (const element of elements) {
    const digit = DIGITS.get(element);
    if (typeof element === "object") {
      if (pending !== undefined || element.scale > 0 || element.units <= 0n || element.units >= 10n) {
        return undefined;
      }
      pending = element.units;
    } else if (digit !== undefined) {
      if (pending !== undefined || (zero && digit === 0)) {
        return undefined;
      }
      if (digit > 0) {
        pending = BigInt(digit);
      } else {
        zero = true;
      }
    } else {
      const exponent = UNITS.get(element) as number;
      if (exponent >= last || (pending === undefined && exponent !== 1)) {
        return undefined;
      }
      total += (pending ?? 1n) * 10n ** BigInt(exponent);
      pending = undefined;
      zero = false;
      last = exponent;
    }
  }
  if (pending === undefined) {
    return zero && total > 0n ? undefined : total;
  }
  return last !== 1 && !zero ? undefined : total + pending;
}
