// Written by protoc-gen-contract 0.1.0. Do not edit.
// Currency signs, abbreviations and words, and the currencies that each of them may mean.

import { caseFolded } from "./casefold.js";
import { FOLDED, MARKS, MINOR, WITHDRAWN_CODES } from "./data/money.js";
import { joins } from "./letters.js";

/** What a currency mark may mean. */
export interface Mark {
  readonly candidates: ReadonlySet<string>;
  readonly primary: string | undefined;
  /** -1 or -2 for a tenth or hundredth (角, 分), and 0 otherwise. */
  readonly part: number;
  /** 角 and 分 may follow. */
  readonly yuan: boolean;
  /** A word that means money only beside a number. */
  readonly weak: boolean;
  /** It stands for no currency of today. */
  readonly unknown: boolean;
}

/** The marks that are known under one locale. */
export interface MarkTable {
  /** Whether a billion may be taken for 10^9. */
  readonly english: boolean;
  readonly exact: ReadonlyMap<string, Mark>;
  readonly folded: ReadonlyMap<string, Mark>;
  /** Lengths of marks by their first two characters, the longest first: what to try at a place. */
  readonly lengths: ReadonlyMap<string, readonly number[]>;
}

/** Digits behind the point by code; undefined as a value where the currency has no minor unit. */
export function minorDigits(): ReadonlyMap<string, number | undefined> {
  minor ??= new Map(
    MINOR.split(" ").map((each) => {
      const [code = "", digits = ""] = each.split("=");
      return [code, digits === "" ? undefined : Number(digits)];
    }),
  );
  return minor;
}

/** Whether ISO 4217 withdrew a code. */
export function isWithdrawn(code: string): boolean {
  return code.length === 3 && ` ${WITHDRAWN_CODES} `.includes(` ${code} `);
}

let minor: ReadonlyMap<string, number | undefined> | undefined;
let common: ReadonlyMap<string, Mark> | undefined;

function commonMarks(): ReadonlyMap<string, Mark> {
  common ??= new Map(
    MARKS.split(";").flatMap((entry) => {
      const [codes = "", primary = "", part = "", flags = "", texts = ""] = entry.split("|");
      const mark = {
        candidates: new Set(codes === "" ? [] : codes.split(" ")),
        primary: primary === "" ? undefined : primary,
        part: Number(part),
        yuan: flags.includes("y"),
        weak: flags.includes("w"),
        unknown: flags.includes("u"),
      };
      return texts.split(" ").map((text) => [text.replaceAll("_", " "), mark] as const);
    }),
  );
  return common;
}

/** A mark of a locale's own: its text, the codes that it may mean, and whether it is a word. */
export type LocalMark = readonly [text: string, codes: readonly string[], weak: boolean];

/** The common marks, and those of a locale beside them. */
export function markTable(english: boolean, local: readonly LocalMark[]): MarkTable {
  const marks = commonMarks();
  const exact = new Map(
    local.map(([text, codes, weak]): [string, Mark] => [
      text,
      { candidates: new Set(codes), primary: undefined, part: 0, yuan: false, weak, unknown: false },
    ]),
  );
  marks.forEach((mark, text) => exact.set(text, mark));
  const folded = new Map<string, Mark>();
  for (const entry of FOLDED.split(" ")) {
    const [key = "", text = key] = entry.split("=");
    folded.set(key, marks.get(text) as Mark);
  }
  const sizes = new Map<string, Set<number>>();
  for (const text of exact.keys()) {
    if (text.length > 1) {
      const start = caseFolded(text.slice(0, 2));
      sizes.set(start, (sizes.get(start) ?? new Set()).add(text.length));
    }
  }
  const lengths = new Map([...sizes].map(([start, all]) => [start, [...all].sort((one, other) => other - one)]));
  return { english, exact, folded, lengths };
}

/** The longest mark that begins at a place, with its end; letters must not be cut off from letters. */
export function findMark(table: MarkTable, text: string, start: number): readonly [number, Mark] | undefined {
  for (const length of table.lengths.get(caseFolded(text.slice(start, start + 2))) ?? []) {
    const end = start + length;
    const piece = text.slice(start, end);
    const mark = table.exact.get(piece) ?? table.folded.get(caseFolded(piece));
    if (end <= text.length && mark !== undefined && isSeparate(text, start, end)) {
      return [end, mark];
    }
  }
  const single = table.exact.get(text.charAt(start));
  return single !== undefined && isSeparate(text, start, start + 1) ? [start + 1, single] : undefined;
}

function isSeparate(text: string, start: number, end: number): boolean {
  if (start > 0 && joins(text.charAt(start)) && joins(text.charAt(start - 1))) {
    return false;
  }
  return !(end < text.length && joins(text.charAt(end - 1)) && joins(text.charAt(end)));
}
