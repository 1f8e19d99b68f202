// Written by protoc-gen-contract 0.1.0. Do not edit.
// The normalizer "money": what people write for an amount, as a plain decimal text and an ISO 4217 code.
//
// Amounts are exact: no floating-point number on the way. What can be read in two ways is refused.

import { describe, refusal, type Refusal } from "../refusal.js";
import { size } from "../codepoints.js";
import { isWithdrawn, markTable, minorDigits, type LocalMark, type Mark, type MarkTable } from "./money_marks.js";
import { parseMoney, type Amount } from "./money_parse.js";
import { tokensOf } from "./money_tokens.js";
import { marksOf, type Marks } from "./numbers.js";
import { decimalText, fold, type Decimal } from "./numerals.js";
import { trimmed } from "./white_space.js";

/** The options of one field. */
export interface MoneyOptions {
  readonly marks: Marks;
  readonly scale: "currency" | "any" | "round_half_even" | "round_half_up";
  /** The code of an amount that has none. */
  readonly defaultCurrency?: string;
  /** The default is the only possible currency, as none is stored. */
  readonly sole?: boolean;
  /** The codes that may occur; absent: all. */
  readonly allowed?: readonly string[];
  /** What the field that receives the code can hold; absent: all. */
  readonly storable?: readonly string[];
  /** Whether a billion may be taken for 10^9. */
  readonly english: boolean;
  /** The locale's own marks, and what its region pays with. */
  readonly local?: readonly LocalMark[];
  readonly regional?: readonly string[];
}

/** An amount and its currency. */
export interface Money {
  readonly amount: string;
  readonly currency: string;
}

/** The amount that a text names, or why it is refused; `known` is the code that is already stored beside it. */
export type MoneyNormalizer = (value: string, known?: string) => Money | Refusal;

const MAX_LENGTH = 1000;
// What a kind of refusal is called outside, and what is said about it. {} is the kind and length of the value.
const KINDS: Readonly<Record<string, readonly [string, string]>> = {
  too_long: ["syntax", `too long; expected an amount of at most ${MAX_LENGTH} characters, got {}`],
  empty: ["syntax", "no amount; expected a number, got {}"],
  no_amount: ["syntax", "no amount; expected a number, got {}"],
  malformed_number: ["syntax", "malformed number; expected well-formed groups and one decimal mark, got {}"],
  ambiguous_number: ["ambiguous", "two readings of {}; expected a number whose decimal mark can be told"],
  percent: ["syntax", "a percentage; expected an amount of money, got {}"],
  range: ["syntax", "a range; expected one amount, got {}"],
  multiple_amounts: ["syntax", "several numbers; expected one amount, got {}"],
  exponent: ["syntax", "an exponent; expected plain notation, got {}"],
  magnitude: ["syntax", "a multiplier; expected the number in full, got {}"],
  sign: ["syntax", "a sign that cannot be told; expected one minus next to the number, got {}"],
  free_text: ["syntax", "text beside the amount; expected a number and a currency, got {}"],
  unknown_currency: ["currency", "unknown currency; expected an ISO 4217 code or its mark, got {}"],
  obsolete_currency: ["currency", "a currency that was withdrawn; expected a code of today, got {}"],
  currency_conflict: ["currency", "marks of different currencies; expected marks that agree, got {}"],
  currency_not_allowed: ["currency", "a currency that is not allowed here, got {}"],
  not_storable: ["currency", "a currency that currency_field has no value for, got {}"],
  no_currency: ["currency", "no currency; expected a code or a mark, got {}"],
  ambiguous_currency: ["ambiguous", "a mark that several currencies share; expected a code, got {}"],
  scale: ["scale", "digits beyond the currency's minor unit, got {}"],
};

/** The refusal of one of the kinds; the value itself is not in it. */
export function refused(kind: string, value: string): Refusal {
  const [rule, message] = KINDS[kind] as readonly [string, string];
  return refusal(`money.${rule}`, message.replace("{}", describe(value)));
}

/** The normalizer with these options. */
export function moneyNormalizer(options: MoneyOptions): MoneyNormalizer {
  let table: MarkTable | undefined;
  return (value, known) => {
    if (known === undefined && isPlainlyCanonical(value, options)) {
      return { amount: value, currency: options.defaultCurrency as string };
    }
    return readAmount(value, known, options, () => (table ??= markTable(options.english, options.local ?? [])));
  };
}

/** Whether an amount without a code is canonical and has no other reading. */
function isPlainlyCanonical(value: string, options: MoneyOptions): boolean {
  const { defaultCurrency: code, allowed, scale, marks, sole } = options;
  if (code === undefined || scale === "any" || (allowed !== undefined && !allowed.includes(code))) {
    return false;
  }
  const minor = minorDigits().get(code);
  const [, divides, groups] = marks.byZero === undefined ? [0x30, ".", ""] : marksOf(marks.byZero, 0x30);
  if (minor === undefined || (minor === 3 && (marks.byZero === undefined || groups.includes(".")))) {
    return false;
  }
  if (minor > 0 && !divides.includes(".") && sole !== true) {
    return false;
  }
  return isExact(value, minor);
}

/** Whether a text is an amount as it is written under any scale but `any`, and no negative zero. */
export function isExact(value: string, minor: number | undefined): boolean {
  const fraction = minor === undefined ? "(?:\\.[0-9]+)?" : minor === 0 ? "" : `\\.[0-9]{${minor}}`;
  return new RegExp(`^-?(?:0|[1-9][0-9]{0,40})${fraction}$`).test(value) && !/^-0(?:\.0+)?$/.test(value);
}

function readAmount(
  value: string,
  known: string | undefined,
  options: MoneyOptions,
  table: () => MarkTable,
): Money | Refusal {
  if (size(value) > MAX_LENGTH) {
    return refused("too_long", value);
  }
  const given = known !== undefined && isLower(known) ? known.toUpperCase() : known;
  if (given !== undefined) {
    if (!minorDigits().has(given)) {
      return refused(isWithdrawn(given) ? "obsolete_currency" : "unknown_currency", given);
    }
    if (isCanonical(value)) {
      const [whole = "", fraction = ""] = value.replace("-", "").split(".");
      const number = { units: BigInt(`${whole}${fraction}`), scale: fraction.length };
      return finished(value, number, value.startsWith("-"), given, options);
    }
  }
  const text = trimmed(value);
  if (text === "") {
    return refused("empty", value);
  }
  if (/[\0-\x1f\x7f-\x9f\ud800-\udfff]/u.test(text)) {
    return refused("malformed_number", value);
  }
  const folded = fold(text);
  const amount = parseMoney(folded.text, tokensOf(folded, options.marks, table()), options.marks.lenient);
  if (folded.odd) {
    return refused("malformed_number", value);
  }
  return typeof amount === "string" ? refused(amount, value) : inCurrency(value, amount, given, options);
}

/** Whether a text is a plain decimal number without superfluous zeros in front. */
export function isCanonical(value: string): boolean {
  return /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/.test(value);
}

/** Whether a text has letters with a case, and all are small. */
function isLower(text: string): boolean {
  return /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
}

/** The amount that was read from a text, in the currency that it is in. */
export function inCurrency(value: string, amount: Amount, given: string | undefined, options: MoneyOptions): Money | Refusal {
  const code = resolve(amount.marks, given, options);
  if (!minorDigits().has(code)) {
    return refused(code, value);
  }
  if (amount.trillion && code === "CNY") {
    // In the mainland 兆 is also a million.
    return refused("ambiguous_number", value);
  }
  return finished(value, amount.number, amount.negative, code, options);
}

/**
 * The code that the marks mean, or the kind of refusal. In this order: a code in the text, the declared default if it is
 * a candidate, the only candidate that is allowed, the currency of the locale's region, a primary reading.
 */
function resolve(marks: readonly Mark[], given: string | undefined, options: MoneyOptions): string {
  const { defaultCurrency, allowed = [], regional = [] } = options;
  const meant = marks.map((mark) => [...mark.candidates]);
  if (given !== undefined) {
    meant.push([given]);
  }
  const [first, ...others] = meant;
  if (first === undefined) {
    return defaultCurrency ?? "no_currency";
  }
  const candidates = first.filter((code) => others.every((each) => each.includes(code)));
  const sole = (codes: readonly string[]): string | undefined => (codes.length === 1 ? codes[0] : undefined);
  if (candidates.length === 0) {
    return "currency_conflict";
  }
  const primary = new Set(
    marks.flatMap((mark) => (mark.primary !== undefined && candidates.includes(mark.primary) ? [mark.primary] : [])),
  );
  return (
    sole(candidates) ??
    candidates.find((code) => code === defaultCurrency) ??
    sole(candidates.filter((code) => allowed.includes(code))) ??
    sole(candidates.filter((code) => regional.includes(code))) ??
    sole([...primary]) ??
    "ambiguous_currency"
  );
}

/** Checks what is allowed and the scale, and writes the amount. */
function finished(
  value: string,
  number: Decimal,
  negative: boolean,
  code: string,
  { allowed, storable, scale }: MoneyOptions,
): Money | Refusal {
  if (allowed !== undefined && !allowed.includes(code)) {
    return refused("currency_not_allowed", value);
  }
  if (storable !== undefined && !storable.includes(code)) {
    return refused("not_storable", value);
  }
  const minor = minorDigits().get(code);
  const written = scale === "any" || minor === undefined ? number : scaled(number, minor, scale);
  return written === undefined ? refused("scale", value) : { amount: decimalText(written, negative), currency: code };
}

/** The number with exactly `digits` fraction digits; undefined where `currency` forbids to drop what is not zero. */
function scaled({ units, scale }: Decimal, digits: number, how: MoneyOptions["scale"]): Decimal | undefined {
  const excess = scale - digits;
  if (excess <= 0) {
    return { units: units * 10n ** BigInt(-excess), scale: digits };
  }
  const divisor = 10n ** BigInt(excess);
  const whole = units / divisor;
  const rest = units % divisor;
  if (rest > 0n && how === "currency") {
    return undefined;
  }
  const half = divisor / 2n;
  const up = rest > half || (rest === half && rest > 0n && (how === "round_half_up" || whole % 2n === 1n));
  return { units: up ? whole + 1n : whole, scale: digits };
}
