// Written by protoc-gen-contract 0.1.0. Do not edit.
// From a folded text to tokens: numbers, currency marks, signs and the rest, in order and without gaps.

import { caseFolded } from "./casefold.js";
import { ENGLISH_POWERS, PERCENT_WORDS, UNSURE_POWERS, WORD_POWERS } from "./data/money.js";
import { CURRENCY_SIGNS } from "./data/numerals.js";
import { isLetter, wordAt } from "./letters.js";
import { findMark, isWithdrawn, minorDigits, type Mark, type MarkTable } from "./money_marks.js";
import { numberRun, readNumber, type Manner, type Marks, type NumberFault } from "./numbers.js";
import {
  BIDI_MARKS, CJK_DIGITS, CJK_POINTS, CJK_UNITS, GAP, cjkNumber, scriptOf, shifted,
  type Decimal, type Element, type Folded,
} from "./numerals.js";

/** Why a text is no amount. */
export type Fault =
  | NumberFault | "no_amount" | "percent" | "range" | "multiple_amounts" | "exponent" | "magnitude" | "sign"
  | "free_text" | "unknown_currency" | "obsolete_currency";

/**
 * One letter a kind, so that the grammar can be regular expressions: n number, c currency mark, - + signs, ( ), _ white
 * space, e closing word (整), b bidi mark, d dash that is no minus, s sign that is never read, u no currency of today,
 * t other text.
 */
export type Kind = "n" | "c" | "-" | "+" | "(" | ")" | "_" | "e" | "b" | "d" | "s" | "u" | "t";

/** A piece of the text. */
export interface Token {
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
  readonly number?: Decimal | undefined;
  readonly fault?: Fault | undefined;
  readonly mark?: Mark | undefined;
  /** 兆: 10^12 everywhere but in the mainland. */
  readonly trillion?: boolean;
}

/** Credit and debit: which sign they mean depends on the account. (Cr may be crore, too.) */
export const CREDIT_DEBIT: readonly string[] = ["CR", "DR", "Cr", "Dr", "cr", "dr"];
// What may end an amount in words, and words beside a numeral that make it approximate.
const CLOSERS = "整正";
const VAGUE = "几幾数數半";
// Exponents are bounded so that a short text cannot ask for a number of a million digits.
const MOST_PLACES = 60;
// Letters behind a space, and right behind the number: "5 m" may be metres or minutes.
const LETTER_POWERS: Readonly<Record<string, number>> = { K: 3, k: 3, M: 6, B: 9, w: 4, W: 4 };
const GLUED_POWERS: Readonly<Record<string, number>> = { ...LETTER_POWERS, m: 6, b: 9, T: 12 };

const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Whether a word, in lower case, multiplies, whether or not it has one value only. */
export function isPowerWord(word: string): boolean {
  return own(WORD_POWERS, word) !== undefined || UNSURE_POWERS.includes(word);
}

/** The text as tokens. In a `running` text a full stop at the end ends a sentence. */
export function tokensOf(folded: Folded, marks: Marks, table: MarkTable, running = false): Token[] {
  const scanner = new Scanner(folded, marks, table, running);
  const found: Token[] = [];
  for (let at = 0; at < folded.text.length; ) {
    const token = scanner.number(at) ?? scanner.mark(at) ?? scanner.other(at, found[found.length - 1]);
    found.push(token);
    at = token.end;
  }
  return found;
}

class Scanner {
  readonly #folded: Folded;
  readonly #text: string;
  readonly #marks: Marks;
  readonly #table: MarkTable;
  readonly #running: boolean;

  constructor(folded: Folded, marks: Marks, table: MarkTable, running: boolean) {
    this.#running = running;
    this.#folded = folded;
    this.#text = folded.text;
    this.#marks = marks;
    this.#table = table;
  }

  #at(place: number): string {
    return this.#text.charAt(place);
  }

  #match(pattern: RegExp, place: number): RegExpExecArray | null {
    const sticky = new RegExp(pattern.source, "y");
    sticky.lastIndex = place;
    return sticky.exec(this.#text);
  }

  // -- numbers

  /** A number in digits, in Chinese numerals, or in both, with what multiplies it. */
  number(start: number): Token | undefined {
    const first = this.#at(start);
    const run = "0123456789.,٫".includes(first) ? numberRun(this.#text, start) : "";
    if (run === "") {
      return this.#numeral(start);
    }
    let end = start + run.length;
    if (".,٫".includes(first) && start > 0 && (this.#isLetterBefore(start) || ".,٫".includes(this.#at(start - 1)))) {
      // A full stop behind a word may belong to either; two of them belong to no number.
      return { kind: "n", start, end, fault: "malformed_number" };
    }
    const exponent = this.#match(/[eE]([+-]?[0-9]+)/, end);
    if (exponent !== null) {
      return this.#scientific(start, run, exponent);
    }
    const units = this.#match(new RegExp(` ?([${CJK_UNITS}]+)`), end);
    if (units !== null) {
      return this.#mixed(start, run, units);
    }
    if (end < this.#text.length && CJK_DIGITS.includes(this.#at(end))) {
      return this.#mixed(start, run, null);
    }
    const noCents = this.#match(/[.,][-–—](?![0-9–—-])/, end);
    let number = this.#plain(run, start, end, { whole: noCents !== null });
    if (noCents !== null) {
      end += noCents[0].length;
    } else if (end === this.#text.length - 1 && ".,".includes(this.#at(end)) && !this.#running) {
      // A decimal mark with nothing behind it: 99. in data, or the end of a sentence (lenient).
      const closed = this.#plain(`${run}${this.#at(end)}0`, start, end);
      if (typeof closed !== "string") {
        number = { units: closed.units / 10n, scale: 0 };
        end += 1;
      } else if (!this.#marks.lenient) {
        return { kind: "n", start, end: end + 1, fault: closed };
      }
    }
    if (typeof number === "string") {
      return { kind: "n", start, end, fault: number };
    }
    return this.#multiplied({ kind: "n", start, end, number });
  }

  #isLetterBefore(place: number): boolean {
    const pair = this.#text.slice(Math.max(place - 2, 0), place);
    return isLetter([...pair].pop() ?? "");
  }

  #plain(body: string, start: number, end: number, manner: Manner = {}): Decimal | NumberFault {
    const zero = scriptOf(this.#folded, start, end);
    return zero === undefined ? "malformed_number" : readNumber(body, this.#marks, zero, manner);
  }

  #scientific(start: number, run: string, exponent: RegExpExecArray): Token {
    const token = { kind: "n", start, end: start + run.length + exponent[0].length } as const;
    const number = this.#plain(run, start, start + run.length);
    if (!this.#marks.lenient) {
      return { ...token, fault: "exponent" };
    }
    if (typeof number === "string") {
      return { ...token, fault: number };
    }
    const digits = exponent[1] as string;
    if (digits.replace(/^[-+0]+/, "").length > 2 || Math.abs(Number(digits)) > MOST_PLACES) {
      return { ...token, fault: "exponent" };
    }
    return { ...token, number: shifted(number, Number(digits)) };
  }

  /** The number with a multiplier letter or word behind it: 1.26K, 35 lakh. */
  #multiplied(token: Token & { readonly number: Decimal }): Token {
    const spaced = this.#at(token.end) === " " ? 1 : 0;
    const place = token.end + spaced;
    const name = wordAt(this.#text, place);
    if (name === "") {
      return token;
    }
    const lower = caseFolded(name);
    let end = place + name.length;
    if (this.#at(end) === "." && own(WORD_POWERS, `${lower}.`) !== undefined) {
      end += 1;
    }
    if (findMark(this.#table, this.#text, place) !== undefined && own(WORD_POWERS, lower) === undefined) {
      return token;
    }
    const refused = (fault: Fault): Token => ({ ...token, end, number: undefined, fault });
    let power = own(spaced > 0 ? LETTER_POWERS : GLUED_POWERS, name) ?? own(WORD_POWERS, lower);
    if (power === undefined && this.#table.english) {
      power = own(ENGLISH_POWERS, lower);
    }
    if (CREDIT_DEBIT.includes(name)) {
      return refused("free_text");
    }
    if (power === undefined) {
      const inMark = /^[kKmMtTbB]([A-Z]{3})$/.exec(name)?.[1];
      const unsure =
        (inMark !== undefined && minorDigits().has(inMark)) ||
        UNSURE_POWERS.includes(lower) ||
        (spaced > 0 && own(GLUED_POWERS, name) !== undefined);
      return unsure ? refused("magnitude") : token;
    }
    return this.#marks.lenient ? { ...token, end, number: shifted(token.number, power) } : refused("magnitude");
  }

  /** A number that begins with a Chinese numeral. */
  #numeral(start: number): Token | undefined {
    const run = this.#match(
      new RegExp(`[${CJK_DIGITS}${CJK_UNITS}]+(?:[${CJK_POINTS}][${CJK_DIGITS}]+[${CJK_UNITS}]*)?`),
      start,
    );
    if (run === null) {
      return undefined;
    }
    const elements = canonical(run[0]);
    const end = start + run[0].length;
    const hasPoint = [...CJK_POINTS].some((point) => run[0].includes(point));
    return this.#evaluated(elements, start, hasPoint ? end : this.#extend(elements, end));
  }

  /** A number in digits that a Chinese unit follows: 4.287亿, 3千5百. */
  #mixed(start: number, run: string, units: RegExpExecArray | null): Token {
    const number = this.#plain(run, start, start + run.length, { chinese: true });
    const end = start + run.length + (units?.[0].length ?? 0);
    if (typeof number === "string") {
      return { kind: "n", start, end, fault: number };
    }
    const elements: Element[] = [number, ...canonical(units?.[1] ?? "")];
    return this.#evaluated(elements, start, this.#extend(elements, end));
  }

  /** More numerals and numbers that follow without a gap. */
  #extend(elements: Element[], start: number): number {
    let end = start;
    while (end < this.#text.length) {
      const tail = this.#match(new RegExp(`[${CJK_DIGITS}${CJK_UNITS}]+`), end);
      if (tail !== null) {
        elements.push(...canonical(tail[0]));
        end += tail[0].length;
        continue;
      }
      const run = /[0-9]/.test(this.#at(end)) ? numberRun(this.#text, end) : "";
      if (run === "") {
        break;
      }
      const number = this.#plain(run, end, end + run.length, { chinese: true });
      // What cannot be read makes the whole run unreadable: two numbers in a row never are a number.
      const unreadable = { units: 0n, scale: 1 };
      elements.push(...(typeof number === "string" ? [unreadable, unreadable] : [number]));
      end += run.length;
    }
    return end;
  }

  #evaluated(elements: readonly Element[], start: number, end: number): Token {
    const number = cjkNumber(elements);
    const isVague = (place: number): boolean => this.#at(place) !== "" && VAGUE.includes(this.#at(place));
    const vague = (start > 0 && isVague(start - 1)) || isVague(end);
    if (number === undefined || vague || own(GLUED_POWERS, wordAt(this.#text, end)) !== undefined) {
      return { kind: "n", start, end, fault: "malformed_number" };
    }
    return { kind: "n", start, end, number, trillion: elements.includes("兆") };
  }

  // -- everything else

  /** A currency mark or code. */
  mark(start: number): Token | undefined {
    const found = findMark(this.#table, this.#text, start);
    // A code is as long as the word it is, so a mark that is part of the word cannot hide it; and a longer mark (MOP$)
    // beats the code that it begins with.
    const code = wordAt(this.#text, start);
    const end = start + code.length;
    if (/^[A-Za-z]{3}$/.test(code) && (found === undefined || found[0] <= end)) {
      const upper = code.toUpperCase();
      if (minorDigits().has(upper)) {
        if (code === upper || code === code.toLowerCase()) {
          const weak = code !== upper;
          const mark = { candidates: new Set([upper]), primary: undefined, part: 0, yuan: false, weak, unknown: false };
          return { kind: "c", start, end, mark };
        }
        if (found === undefined) {
          return { kind: "u", start, end, fault: "unknown_currency" };
        }
      } else if (isWithdrawn(code)) {
        return { kind: "u", start, end, fault: "obsolete_currency" };
      }
    }
    if (found === undefined) {
      return undefined;
    }
    const [stop, mark] = found;
    return mark.unknown
      ? { kind: "u", start, end: stop, fault: "unknown_currency", mark }
      : { kind: "c", start, end: stop, mark };
  }

  other(start: number, before: Token | undefined): Token {
    const character = String.fromCodePoint(this.#text.codePointAt(start) as number);
    const end = start + character.length;
    if (character === " " || character === GAP) {
      let stop = end;
      while (this.#at(stop) === " " || this.#at(stop) === GAP) {
        stop += 1;
      }
      return { kind: "_", start, end: stop };
    }
    switch (character) {
      case "+":
      case "-":
      case "(":
      case ")":
        return { kind: character, start, end };
      case "–":
        return { kind: "d", start, end };
      default:
    }
    if (BIDI_MARKS.includes(character)) {
      return { kind: "b", start, end };
    }
    if ("▲△▼±∓—负負".includes(character)) {
      return { kind: "s", start, end };
    }
    if (CLOSERS.includes(character) && (before?.kind === "n" || before?.kind === "c")) {
      return { kind: "e", start, end };
    }
    if ("%٪‰".includes(character)) {
      return { kind: "t", start, end, fault: "percent" };
    }
    const word = wordAt(this.#text, start);
    if (word !== "") {
      const fault = PERCENT_WORDS.includes(caseFolded(word)) ? ("percent" as const) : undefined;
      return { kind: "t", start, end: start + word.length, fault };
    }
    if (character > "\x7f" && CURRENCY_SIGNS.includes(character)) {
      return { kind: "u", start, end, fault: "unknown_currency" };
    }
    return { kind: "t", start, end };
  }
}

function canonical(run: string): string[] {
  return [...run].map((character) => (character === "조" ? "兆" : character));
}
