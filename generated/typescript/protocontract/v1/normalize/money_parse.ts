// Written by protoc-gen-contract 0.1.0. Do not edit.
// From tokens to one amount: a sign, one exact number and the currencies that it may be in.

import { caseFolded } from "./casefold.js";
import { isAlphanumeric, isLetter } from "./letters.js";
import type { Mark } from "./money_marks.js";
import { CREDIT_DEBIT, isPowerWord, type Fault, type Token } from "./money_tokens.js";
import { MINUS_WORDS } from "./numbers.js";
import { shifted, type Decimal } from "./numerals.js";

/** One amount: its currency marks are still to be resolved. */
export interface Amount {
  readonly number: Decimal;
  readonly negative: boolean;
  readonly marks: readonly Mark[];
  readonly trillion: boolean;
}

// The sign forms of the policy table; spaces (_) may stand anywhere but between a minus and its number.
const FORMS: readonly (readonly [RegExp, boolean])[] = [
  [/^_?\+?(?:c_?)*n_?(?:e?_?c)*_?e?$/, false],
  [/^(?:c_?)+\+n(?:_?c)*$/, false],
  [/^-(?:c_?)*n(?:_?c)*e?$/, true],
  [/^(?:c_?)+-n(?:_?c)*$/, true],
  [/^(?:c_?)*n-(?:_?c)*$/, true],
  [/^(?:c_?)*\(_?(?:c_?)*n(?:_?c)*_?\)(?:_?c)*$/, true],
];
const SIGNS = /[-+ds]/;
const CLOSE = "_c-+()debsu";
// Words that may follow a numeral that is an amount nevertheless, and those that make a numeral of its own of the one
// before them: it counts something, or begins a range.
const AFTER_NUMERALS = "多余餘来來左上以到至个個件只隻台张張份位人天年月日瓶盒包袋箱斤克吨噸米";

/** The one amount that the tokens form, or why there is none. */
export function parseMoney(text: string, tokens: readonly Token[], lenient: boolean): Amount | Fault {
  let found = tokens.filter((token) => token.kind !== "b");
  if (lenient) {
    found = found.map((token, at) =>
      token.kind === "n" && found[Math.min(at + 1, found.length - 1)]?.kind === "t" && isPartOfWord(text, token)
        ? { kind: "t", start: token.start, end: token.end }
        : token,
    );
  }
  found = joinedParts(found);
  const [place, second] = found.flatMap((token, at) => (token.kind === "n" ? [at] : []));
  if (place === undefined) {
    return "no_amount";
  }
  if (found.some((token) => token.fault === "percent")) {
    return "percent";
  }
  if (second !== undefined) {
    const between = found.slice(place + 1, second).map((token) => token.kind);
    return SIGNS.test(between.join("")) ? "range" : "multiple_amounts";
  }
  if (lenient) {
    if (isQualified(found)) {
      return "unknown_currency";
    }
    found = withoutFarWords(text, found, place);
  }
  const written = (token: Token): string => text.slice(token.start, token.end);
  const unknown = found.find((token) => token.kind === "u" && token.fault !== undefined);
  if (unknown?.fault !== undefined) {
    return unknown.fault;
  }
  const number = found[place] as Token;
  if (number.fault !== undefined) {
    return number.fault;
  }
  const kinds = kindsOf(text, found, place, lenient);
  if (kinds === undefined) {
    return "sign";
  }
  const hasCode = found.some((token) => token.kind === "t" && /^[A-Z]{3}$/.test(written(token)));
  if (/[tu]/.test(kinds)) {
    return hasCode ? "unknown_currency" : "free_text";
  }
  const marks = found.filter((token) => token.kind === "c");
  if (lenient) {
    const rest = found.filter((token) => token.kind === "t").map(written);
    if (rest.some((word) => CREDIT_DEBIT.includes(word))) {
      return "free_text";
    }
    if (rest.some((word) => MINUS_WORDS.includes(caseFolded(word)))) {
      return "sign";
    }
    if (rest.some((word) => isPowerWord(caseFolded(word)))) {
      return "magnitude";
    }
    if (marks.length === 0 && hasCode) {
      return "unknown_currency";
    }
  }
  const form = FORMS.find(([pattern]) => pattern.test(kinds));
  if (form === undefined) {
    return SIGNS.test(kinds) ? "sign" : "free_text";
  }
  if (marks.some((mark, at) => at > 0 && marks[at - 1]?.end === mark.start && written(marks[at - 1] as Token) === written(mark))) {
    return "free_text";
  }
  if (number.number === undefined) {
    return "malformed_number";
  }
  return {
    number: number.number,
    negative: form[1],
    marks: marks.flatMap(({ mark }) => (mark === undefined ? [] : [mark])),
    trillion: number.trillion === true,
  };
}

type Pair = readonly [Token, Mark];

/** Yuan, jiao and fen as one number: 五元三角八分. The marks stay, the numbers behind the first one go. */
function joinedParts(found: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (let at = 0; at < found.length; ) {
    const pairs: Pair[] = [];
    const marks: Token[] = [];
    for (let here = at; ; here += 2) {
      const [token, next] = [found[here], found[here + 1]];
      if (token?.kind !== "n" || next?.kind !== "c" || next.mark === undefined) {
        break;
      }
      const before = pairs[pairs.length - 1]?.[1];
      const order = next.mark.yuan ? 1 : next.mark.part;
      if (order === 0 || (before !== undefined && order >= (before.yuan ? 1 : before.part))) {
        break;
      }
      pairs.push([token, next.mark]);
      marks.push(next);
    }
    if (pairs.length === 0 || (pairs.length === 1 && pairs[0]?.[1].yuan === true)) {
      out.push(found[at] as Token);
      at += 1;
    } else {
      out.push(sumOf(pairs), ...marks);
      at += 2 * pairs.length;
    }
  }
  return out;
}

function sumOf(pairs: readonly Pair[]): Token {
  const [first, mark] = pairs[0] as Pair;
  const last = pairs[pairs.length - 1] as Pair;
  const token = { kind: "n", start: first.start, end: last[0].end } as const;
  const trillion = first.trillion === true;
  let units = 0n;
  for (const [place, [{ number, fault }, { part }]] of pairs.entries()) {
    if (number === undefined) {
      return { ...token, fault: fault ?? "malformed_number" };
    }
    if (pairs.length > 1 && (number.scale > 0 || (place > 0 && number.units > 9n))) {
      return { ...token, fault: "malformed_number" };
    }
    if (pairs.length === 1) {
      return { ...token, number: shifted(number, mark.part), trillion };
    }
    units += number.units * 10n ** BigInt(2 + part);
  }
  const number = last[1].part === -1 ? { units: units / 10n, scale: 1 } : { units, scale: 2 };
  return { ...token, number, trillion };
}

/** Words that may be money are so only beside the number; elsewhere they are words (`all`, `Fr.`, 元). */
function withoutFarWords(text: string, found: readonly Token[], place: number): Token[] {
  let left = place;
  while (left > 0 && CLOSE.includes((found[left - 1] as Token).kind)) {
    left -= 1;
  }
  let right = place;
  while (right + 1 < found.length && CLOSE.includes((found[right + 1] as Token).kind)) {
    right += 1;
  }
  const marked = found.slice(left, right + 1).some((token) => token.kind === "c");
  return found.map((token, at) => {
    const near = left <= at && at <= right;
    const isFarWord = token.mark?.weak === true && !near;
    const isName =
      token.kind === "u" &&
      token.mark === undefined &&
      /^[A-Z][a-z]*$/.test(text.slice(token.start, token.end)) &&
      (marked || !near);
    return isFarWord || isName ? { ...token, kind: "t", fault: undefined, mark: undefined } : token;
  });
}

/** Whether a Chinese numeral is part of a word: 一共, 百货. */
function isPartOfWord(text: string, token: Token): boolean {
  const after = String.fromCodePoint(...[text.codePointAt(token.end)].filter((point) => point !== undefined));
  return (
    !/[0-9]/.test(text.slice(token.start, token.end)) &&
    after >= "\u2e80" &&
    isLetter(after) &&
    !AFTER_NUMERALS.includes(after)
  );
}

/** The kinds as one text, with what lenient reading drops dropped; undefined where a sign cannot be told. */
function kindsOf(text: string, found: readonly Token[], place: number, lenient: boolean): string | undefined {
  const kinds: string[] = found.map((token) => token.kind);
  if (!lenient) {
    return kinds.join("");
  }
  const encloses = kinds.slice(0, place).includes("(") && kinds.slice(place).includes(")");
  if (encloses && kinds.includes("t")) {
    return undefined;
  }
  for (const [at, token] of found.entries()) {
    if ((token.kind === "(" || token.kind === ")") && !encloses) {
      kinds[at] = "t";
    }
    if (token.kind === "-" || token.kind === "d") {
      kinds[at] = dashAt(text, found, at);
    }
    const isLongDash = token.kind === "s" && text.charAt(token.start) === "—";
    if (isLongDash && at > 0 && at < kinds.length - 1 && kinds[at + 1] === "_") {
      kinds[at] = "t";
    }
  }
  if (kinds.includes("?")) {
    return undefined;
  }
  let kept = "";
  for (const kind of kinds) {
    if (kind !== "t" && kind !== "_") {
      kept += kind;
    } else if (kept !== "" && !kept.endsWith("_")) {
      kept += "_";
    }
  }
  return kept.replace(/_$/, "");
}

/** What a dash is in lenient reading: a minus, part of the text, or nobody knows (?). */
function dashAt(text: string, found: readonly Token[], at: number): "-" | "t" | "?" {
  const before = found[at - 1];
  const after = found[at + 1];
  if (before?.kind === "t") {
    const last = [...text.slice(before.start, before.end)].pop() ?? "";
    if (isAlphanumeric(last) || text.charAt(before.start) === "/") {
      return after === undefined || after.kind === "t" || after.kind === "_" ? "t" : "?";
    }
  }
  if (after?.kind === "t") {
    // In front of a word it may be the sign of what stands behind the word.
    return before === undefined || before.kind === "_" ? "?" : "t";
  }
  return "-";
}

/** Whether a word that several currencies share follows another word, which may say which: Canadian dollars. */
function isQualified(found: readonly Token[]): boolean {
  return found.some(
    ({ mark, start, end }, at) =>
      at > 1 &&
      mark?.weak === true &&
      mark.candidates.size > 1 &&
      end - start > 3 &&
      found[at - 1]?.kind === "_" &&
      found[at - 2]?.kind === "t",
  );
}
