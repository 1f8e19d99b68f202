// Amounts inside of running text: what is unmistakably one, and where it stands.

import { caseFolded } from "./casefold.js";
import { isAlphanumeric, isLetter } from "./letters.js";
import { inCurrency, isCanonical, isExact, refused, type Money, type MoneyOptions } from "./money.js";
import { minorDigits, type MarkTable } from "./money_marks.js";
import { parseMoney } from "./money_parse.js";
import { isPowerWord, tokensOf, type Token } from "./money_tokens.js";
import { fold, placeBefore } from "./numerals.js";
import type { Refusal } from "../refusal.js";

/** An amount in a stretch of a text, or why it cannot be read. Offsets count UTF-16 code units. */
export interface Found {
  readonly start: number;
  readonly end: number;
  readonly result: Money | Refusal;
}

// Words that stand before an amount and are not words of a language (Le 5 mai, den 5. Mai).
const BEFORE: readonly string[] = [
  "CHF", "FCFA", "Fr.", "Kč", "NTD", "RM", "RMB", "Rp", "Rp.", "Rs", "Rs.", "SFr.", "TL", "kr", "zł",
];

/** All amounts, from left to right, without overlaps. */
export function findAmounts(text: string, options: MoneyOptions, table: MarkTable): Found[] {
  const amounts: Found[] = [];
  let start = 0;
  // Nothing that belongs to an amount reaches over a line feed.
  for (const line of text.split("\n")) {
    for (const found of inLine(line, options, table)) {
      amounts.push({ ...found, start: found.start + start, end: found.end + start });
    }
    start += line.length + 1;
  }
  return amounts;
}

function inLine(text: string, options: MoneyOptions, table: MarkTable): Found[] {
  const folded = fold(text);
  const found = tokensOf(folded, options.marks, table, true).filter((token) => token.kind !== "b");
  const line = new Line(folded.text, found);
  const amounts: Found[] = [];
  let done = 0;
  for (const [place, token] of found.entries()) {
    if (token.kind !== "n" || place < done) {
      continue;
    }
    const [left, right] = line.reach(place);
    if (left === undefined || left < done || !found.slice(left, right + 1).some((part) => part.kind === "c")) {
      continue;
    }
    const [until, fault] = line.disturbed(left, right);
    if (fault === "skip") {
      continue;
    }
    const last = fault === undefined ? right : until;
    const start = placeBefore(folded, (found[left] as Token).start);
    const end = placeBefore(folded, (found[last] as Token).end);
    const piece = text.slice(start, end);
    const result =
      fault === undefined
        ? resultOf(piece, folded.text, found.slice(left, right + 1), options)
        : refused(fault, piece);
    amounts.push({ start, end, result });
    done = last + 1;
  }
  return amounts;
}

function resultOf(piece: string, text: string, part: readonly Token[], options: MoneyOptions): Money | Refusal {
  const [, code = "", amount = ""] = /^([A-Z]{3}) (-?[0-9.]+)$/.exec(piece) ?? [];
  if (minorDigits().has(code) && (options.allowed === undefined || options.allowed.includes(code))) {
    // The standard form is kept before a locale is looked at, so that a second pass changes nothing.
    const minor = minorDigits().get(code);
    if (options.scale === "any" ? isCanonical(amount) : isExact(amount, minor)) {
      return { amount, currency: code };
    }
  }
  const read = parseMoney(text, part, false);
  return typeof read === "string" ? refused(read, piece) : inCurrency(piece, read, undefined, options);
}

/** One line as tokens. */
class Line {
  readonly #text: string;
  readonly #found: readonly Token[];

  constructor(text: string, found: readonly Token[]) {
    this.#text = text;
    this.#found = found;
  }

  /** How far an amount reaches to both sides of its number; no first token where the number belongs to a word. */
  reach(place: number): readonly [left: number | undefined, right: number] {
    let left = place;
    if (this.#is(left - 1, "-+")) {
      const marked = this.#markBefore(left - 2);
      if (marked !== undefined) {
        left = marked;
      } else if (this.#opens(left - 2)) {
        left -= 1;
      }
    } else {
      for (let marked = this.#markBefore(left - 1); marked !== undefined; marked = this.#markBefore(left - 1)) {
        left = marked;
      }
      if (left < place && this.#is(left - 1, "-+") && this.#opens(left - 2)) {
        left -= 1;
      }
    }
    if (left === place && this.#is(place - 1, "t") && this.#isGlued(place - 1, place)) {
      return [undefined, place];
    }
    let right = place;
    for (;;) {
      let after = right + 1;
      if (this.#is(after, "_") && this.#isOneSpace(after)) {
        after += 1;
      }
      if (this.#isMarkAfter(after)) {
        right = after;
      } else if (after > right + 1 || after >= this.#found.length) {
        return [left, right];
      } else if (this.#is(after, "e")) {
        right = after;
      } else if (this.#is(right, "c") && this.#isPart(after)) {
        right = after + 1;
      } else {
        return [left, right];
      }
    }
  }

  #is(at: number, kinds: string): boolean {
    const token = this.#found[at];
    return token !== undefined && kinds.includes(token.kind);
  }

  #word({ start, end }: Token): string {
    return this.#text.slice(start, end);
  }

  /** The place of the mark that ends at a token, over one space. */
  #markBefore(at: number): number | undefined {
    const place = at > 0 && this.#is(at, "_") && this.#isOneSpace(at) ? at - 1 : at;
    const token = this.#found[place];
    if (token?.kind !== "c" || token.mark === undefined || token.mark.part !== 0) {
      return undefined;
    }
    return token.mark.weak && !BEFORE.includes(this.#word(token)) ? undefined : place;
  }

  #isMarkAfter(at: number): boolean {
    const token = this.#found[at];
    if (token?.kind !== "c" || token.mark === undefined || token.mark.part !== 0) {
      return false;
    }
    const word = this.#word(token);
    return !/^[A-Za-z]$/.test(word) && !(/^[a-z]{3}$/.test(word) && minorDigits().has(word.toUpperCase()));
  }

  /** Whether jiao or fen follow: a number and their mark. */
  #isPart(at: number): boolean {
    const mark = this.#found[at + 1]?.mark;
    return this.#is(at, "n") && mark !== undefined && mark.part !== 0;
  }

  #isOneSpace(at: number): boolean {
    const token = this.#found[at] as Token;
    return token.end - token.start === 1;
  }

  /** Whether a sign behind this token can only be a sign: at the start, after a space or punctuation. */
  #opens(at: number): boolean {
    return at < 0 || this.#is(at, "_(") || (this.#is(at, "t") && !isAlphanumeric(this.#last(at)));
  }

  /** The last character of a token. */
  #last(at: number): string {
    return [...this.#word(this.#found[at] as Token)].pop() ?? "";
  }

  /** Whether a word runs into the number (A5); Chinese has no spaces, so its words do not. */
  #isGlued(before: number, after: number): boolean {
    const last = this.#last(before);
    return isAlphanumeric(last) && last < "\u2e80" && this.#found[before]?.end === this.#found[after]?.start;
  }

  /** What stands beside an amount and makes it another thing: a range, a percentage, a multiplier, a word. */
  disturbed(left: number, right: number): readonly [until: number, fault: string | undefined] {
    const found = this.#found;
    if (left > 1 && this.#is(left - 1, "-+ds") && this.#is(left - 2, "nc")) {
      return [right, "range"];
    }
    if (left > 1 && this.#is(left - 1, "-+") && found[left]?.kind !== found[left - 1]?.kind) {
      return [right, "sign"];
    }
    const at = this.#is(right + 1, "_") ? right + 2 : right + 1;
    const touches = at === right + 1;
    const token = found[at];
    if (token !== undefined && "-ds".includes(token.kind) && token.end < this.#text.length) {
      let beyond = at + 1;
      while (this.#is(beyond, "_c")) {
        beyond += 1;
      }
      if (this.#is(beyond, "n")) {
        while (this.#is(beyond + 1, "c")) {
          beyond += 1;
        }
        return [beyond, "range"];
      }
    }
    if (touches && this.#is(at, "-+") && (at + 1 === found.length || this.#is(at + 1, "_"))) {
      return [at, "sign"];
    }
    const numerals = !/[0-9]/.test(this.#text.slice((found[left] as Token).start, (found[right] as Token).end));
    if (touches && this.#is(at, "n") && numerals) {
      return [right, "skip"]; // Chinese numerals in words: 一元二次方程
    }
    if (touches && this.#is(at, "n") && this.#is(right, "c")) {
      // 35€99: the mark may belong to either number, or stand for a decimal point.
      return [at, "multiple_amounts"];
    }
    if (token?.kind !== "t") {
      return [right, undefined];
    }
    const word = this.#word(token);
    if (token.fault === "percent") {
      return [right, "skip"];
    }
    if (isPowerWord(caseFolded(word))) {
      return [at, "magnitude"];
    }
    const first = [...word][0] ?? "";
    if (touches && isLetter(first)) {
      const han = first >= "\u2e80";
      if ((this.#is(right, "n") && !han) || (han && numerals)) {
        return [right, "skip"];
      }
    }
    return [right, undefined];
  }
}
