// Which characters are letters (General_Category L), from a table of our own: an engine's may be of another version.

import { LETTERS } from "./data/letters.js";

let bounds: readonly number[] | undefined;

/** Whether a character is a letter. */
export function isLetter(character: string): boolean {
  const point = character.codePointAt(0);
  if (point === undefined || point < 0x80) {
    return /^[A-Za-z]/.test(character);
  }
  if (bounds === undefined) {
    let last = 0;
    bounds = LETTERS.split(" ").map((each) => (last += Number.parseInt(each, 36)));
  }
  // Runs as first and behind the last: a letter has an odd number of bounds at it or before it.
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] as number) <= point) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low % 2 === 1;
}

/** Whether words are told apart by what stands beside this character: a letter, but not a Chinese one. */
export function joins(character: string): boolean {
  return character < "\u2e80" && isLetter(character);
}

/** The word of such letters at a place; empty where there is none. */
export function wordAt(text: string, start: number): string {
  let end = start;
  while (end < text.length && joins(text.charAt(end))) {
    end += 1;
  }
  return text.slice(start, end);
}
