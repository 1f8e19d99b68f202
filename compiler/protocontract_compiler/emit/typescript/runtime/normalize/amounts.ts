// Amounts of money inside of running text: each unambiguous one becomes its standard form, "<code> <amount>".
//
// An amount that the normalizer "money" refuses stays as it is and is reported. So does one that runs into its
// neighbours in such a way that its standard form would be read as something else.

import { size } from "../codepoints.js";
import { isRefusal, refusal, type Refusal } from "../refusal.js";
import { splice, type Edit } from "./edits.js";
import type { MoneyOptions } from "./money.js";
import { findAmounts } from "./money_find.js";
import { markTable, type MarkTable } from "./money_marks.js";
import { CJK_DIGITS, CJK_POINTS, CJK_UNITS } from "./numerals.js";
import { stepped, type Step, type TextOptions } from "./text.js";

// Each round leaves out amounts that were read anew after the last one; what is not settled then stays as it is.
const ROUNDS = 6;
const LONGEST_NUMBER = 200;

interface Candidates {
  /** The amounts that change and those that are refused, by their number among all amounts. */
  readonly changing: Map<number, Edit>;
  readonly refused: Map<number, Refusal>;
}

type Finder = (text: string) => Candidates;

/** The step that brings every amount that can be read into its standard form. */
export function amounts(options: MoneyOptions): Step {
  const find = finder(options);
  return (text) => [...read(find, text).changing.values()];
}

/**
 * Why amounts of a text were left as they are, one refusal an amount, in order. `before` are the steps that run before
 * the amounts are looked for; a text that is refused as a whole has none.
 */
export function amountWarnings(before: TextOptions, options: MoneyOptions): (value: string) => Refusal[] {
  const find = finder(options);
  return (value) => {
    const text = stepped(value, before);
    if (isRefusal(text)) {
      return [];
    }
    const { refused } = read(find, text.text);
    return [...refused.keys()].sort((one, other) => one - other).map((index) => refused.get(index) as Refusal);
  };
}

function finder(options: MoneyOptions): Finder {
  let table: MarkTable | undefined;
  return (text) => {
    table ??= markTable(options.english, options.local ?? []);
    const changing = new Map<number, Edit>();
    const refused = new Map<number, Refusal>();
    for (const [index, { start, end, result }] of findAmounts(withoutLongNumbers(text), options, table).entries()) {
      if (isRefusal(result)) {
        refused.set(index, refusal(result.ruleId, result.message, index));
        continue;
      }
      const standard = `${result.currency} ${result.amount}`;
      if (text.slice(start, end) !== standard) {
        changing.set(index, { start, end, text: standard, kind: "unit" });
      }
    }
    return { changing, refused };
  };
}

function read(find: Finder, text: string): Candidates {
  const { changing, refused } = find(text);
  const leftOut = settle(find, text, changing);
  // Amounts that are left out are looked for again in a second pass; it must leave them out too.
  if (leftOut.size > 0 && changing.size > 0) {
    const edited = splice(text, [...changing.values()]);
    const again = find(edited).changing;
    settle(find, edited, again);
    if (again.size > 0) {
      changing.forEach((_, index) => leftOut.add(index));
      changing.clear();
    }
  }
  for (const index of leftOut) {
    refused.set(
      index,
      refusal("money.ambiguous", "the amount runs into its neighbours; expected amounts apart", index),
    );
  }
  return { changing, refused };
}

/** Takes out of `changing` what would not be read as what was written; the numbers of these. */
function settle(find: Finder, text: string, changing: Map<number, Edit>): Set<number> {
  const leftOut = new Set<number>();
  const leftPlaces = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    if (changing.size === 0) {
      return leftOut;
    }
    const edited = splice(text, [...changing.values()]);
    const unsettled = disturbed(edited, changing, [...find(edited).changing.values()], leftPlaces);
    if (unsettled.size === 0) {
      return leftOut;
    }
    for (const index of unsettled) {
      const edit = changing.get(index) as Edit;
      leftOut.add(index);
      leftPlaces.add(`${edit.start} ${edit.end}`);
      changing.delete(index);
    }
  }
  changing.forEach((_, index) => leftOut.add(index));
  changing.clear();
  return leftOut;
}

/** The text with letters in the place of numbers that no amount has, whose value would be costly to find out. */
function withoutLongNumbers(text: string): string {
  if (text.length < LONGEST_NUMBER) {
    return text;
  }
  const numerals = `[\\p{Nd}.,'’٫٬${CJK_DIGITS}${CJK_UNITS}${CJK_POINTS}]{${LONGEST_NUMBER},}`;
  const spaced = `\\p{Nd}{1,3}(?:[ \\u00a0\\u2007\\u2009\\u202f]\\p{Nd}{3}){${LONGEST_NUMBER / 4},}`;
  return text.replace(new RegExp(`${numerals}|${spaced}`, "gu"), (match) => "x".repeat(match.length));
}

/**
 * The edits to take back, given what is read as an amount to be changed (`places`) in the text that they made.
 *
 * These are the edits whose results share text with such a place. A place that shares text with none is an amount that
 * was left out on purpose (`leftPlaces`, in the text before), or one that could not be read before: then the nearest
 * edit set it free. Edits and places are in order.
 */
function disturbed(
  edited: string,
  changing: ReadonlyMap<number, Edit>,
  places: readonly Edit[],
  leftPlaces: ReadonlySet<string>,
): Set<number> {
  const found = new Set<number>();
  let shift = 0;
  let at = 0;
  let before: readonly [index: number, end: number] | undefined; // The last edit before a place, and its result's end.
  const judge = (index: number | undefined, start: number | undefined): void => {
    for (let place = places[at]; place !== undefined && (start === undefined || place.end <= start); place = places[at]) {
      at += 1;
      const isLeftOut = leftPlaces.has(`${place.start - shift} ${place.end - shift}`);
      if (isLeftOut || (before !== undefined && place.start < before[1])) {
        continue;
      }
      const isNearer =
        before !== undefined &&
        start !== undefined &&
        size(edited.slice(before[1], place.start)) <= size(edited.slice(place.end, start));
      if (start === undefined || isNearer) {
        if (before !== undefined) {
          found.add(before[0]);
        }
      } else {
        found.add(index as number);
      }
    }
  };
  for (const [index, edit] of changing) {
    const start = edit.start + shift;
    const end = start + edit.text.length;
    judge(index, start);
    const next = places[at];
    if (next !== undefined && next.start < end) {
      found.add(index);
    }
    shift += edit.text.length - (edit.end - edit.start);
    before = [index, end];
  }
  judge(undefined, undefined);
  return found;
}
