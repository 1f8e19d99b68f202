// Written by protoc-gen-contract 0.1.0. Do not edit.
// Numbers as people write them: which mark divides, which marks group, and when nobody can tell.

import type { Decimal } from "./numerals.js";

/** Why a number cannot be read. */
export type NumberFault = "malformed_number" | "ambiguous_number";

/** How numbers are to be read: the declared marks, or none. */
export interface Marks {
  readonly lenient: boolean;
  /** The zero of a script -> the dividing and the grouping marks; absent where the text alone must tell. */
  readonly byZero?: readonly (readonly [zero: number, divides: string, groups: string])[];
  /** Whether groups of two may stand before the last three digits. */
  readonly lakh: boolean;
}

const ARABIC_DECIMAL = "\u066b";
const ALWAYS_GROUP = " '\u066c";
// Longer runs of digits are no numbers that anyone wrote.
const LONGEST = 1000;

/** Words in front of a number that say what a minus says. */
export const MINUS_WORDS: readonly string[] = ["minus", "negative", "moins", "menos", "meno", "минус"];

/** The run at a place that can only be one number, well formed or not; empty where there is none. */
export function numberRun(text: string, start: number): string {
  // A space belongs to a number only before three digits.
  const run = /[.,\u066b]?[0-9]+(?:[.,'\u066b\u066c_|]+[0-9]+| [0-9]{3}(?![0-9]))*/y;
  run.lastIndex = start;
  return run.exec(text)?.[0] ?? "";
}

/** How a run is read beside the declared marks. */
export interface Manner {
  /** The Chinese way, in which the full stop divides, where nothing is declared. */
  readonly chinese?: boolean;
  /** The text itself marks the number as one without a fraction (1.899,-). */
  readonly whole?: boolean;
}

/** The number that a run of digits and marks stands for. `zero` tells the script of its digits. */
export function readNumber(body: string, marks: Marks, zero: number, manner: Manner = {}): Decimal | NumberFault {
  if (body.length > LONGEST) {
    return "malformed_number";
  }
  const head = /^[0-9]*/.exec(body)?.[0] ?? "";
  if (head.length === body.length) {
    return { units: BigInt(body), scale: 0 };
  }
  const pieces = [...body.slice(head.length).matchAll(/([.,'\u066b\u066c ])([0-9]+)/g)];
  if (pieces.reduce((sum, piece) => sum + piece[0].length, head.length) !== body.length) {
    return "malformed_number";
  }
  const separators = pieces.map((piece) => piece[1] as string);
  const groups = pieces.map((piece) => piece[2] as string);
  const divides = dividing(head, separators, groups, marks, zero, manner);
  if (typeof divides === "string") {
    return divides;
  }
  let fraction = "";
  if (divides) {
    if (manner.whole === true) {
      return "malformed_number";
    }
    fraction = groups.pop() ?? "";
    separators.pop();
  }
  if (groups.length > 0 && !wellGrouped(head, separators, groups, marks.lakh)) {
    return "malformed_number";
  }
  if (head === "" && !divides) {
    return "malformed_number";
  }
  return { units: BigInt(`${head || "0"}${groups.join("")}${fraction}`), scale: fraction.length };
}

function dividing(
  head: string,
  separators: readonly string[],
  groups: readonly string[],
  marks: Marks,
  zero: number,
  { chinese = false, whole = false }: Manner,
): boolean | NumberFault {
  if (marks.byZero === undefined) {
    return chinese ? declared(separators, ".", ",") : free(head, separators, groups, marks.lenient, whole);
  }
  const [, divides, grouping] = marksOf(marks.byZero, zero);
  return declared(separators, divides, grouping);
}

/** The marks for digits of a script: its own, or those of ASCII digits. */
export function marksOf(
  byZero: readonly (readonly [number, string, string])[],
  zero: number,
): readonly [number, string, string] {
  return (byZero.find((each) => each[0] === zero) ?? byZero.find((each) => each[0] === 0x30)) as [number, string, string];
}

/** Whether the last mark divides, under declared marks; every other mark must be one that groups. */
function declared(separators: readonly string[], divide: string, group: string): boolean | NumberFault {
  const divides = `${divide}${ARABIC_DECIMAL}`.includes(separators[separators.length - 1] as string);
  const others = divides ? separators.slice(0, -1) : separators;
  return others.every((mark) => `${group}${ALWAYS_GROUP}`.includes(mark)) ? divides : "malformed_number";
}

/** Whether the last mark divides where nothing is declared, or that it cannot be told. */
function free(
  head: string,
  separators: readonly string[],
  groups: readonly string[],
  lenient: boolean,
  whole: boolean,
): boolean | NumberFault {
  const last = separators[separators.length - 1] as string;
  if (separators.includes(ARABIC_DECIMAL)) {
    return separators.indexOf(ARABIC_DECIMAL) === separators.length - 1 ? true : "malformed_number";
  }
  if (whole || !separators.some((mark) => ".,".includes(mark))) {
    return false;
  }
  if (new Set(separators).size > 1) {
    // Two kinds of marks: the last one divides, if it is a mark that can and stands there once.
    const once = separators.filter((mark) => mark === last).length === 1;
    return ".,".includes(last) && once ? true : "malformed_number";
  }
  if (separators.length > 1) {
    return false;
  }
  if (groups[0]?.length !== 3 || head.length < 1 || head.length > 3 || head.startsWith("0")) {
    return true;
  }
  return lenient ? false : "ambiguous_number";
}

function wellGrouped(head: string, separators: readonly string[], groups: readonly string[], lakh: boolean): boolean {
  const last = groups[groups.length - 1];
  if (new Set(separators).size > 1 || head.length < 1 || head.length > 3 || head.startsWith("0") || last?.length !== 3) {
    return false;
  }
  const sizes = [...new Set(groups.slice(0, -1).map((group) => group.length))];
  if (sizes.every((length) => length === 3)) {
    return true;
  }
  // Groups of two are an Indian habit, and commas make them.
  return lakh && sizes.length === 1 && sizes[0] === 2 && head.length <= 2 && separators[0] === ",";
}
