// Written by protoc-gen-contract 0.1.0. Do not edit.
// Which characters are letters (General_Category L), from a table of our own: an engine's may be of another version.

import { LETTERS } from "./data/letters.js";
import { isCounter, isDigit } from "./numerals.js";

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

/** Whether a character is a letter or a numeral of some kind. */
export function isAlphanumeric(character: string): boolean {
  return isLetter(character) || isDigit(character) || isCounter(character);
}

/** The word of letters and numerals that are no digits, none of them Chinese, at a place; empty where there is none. */
export function wordAt(text: string, start: number): string {
  let end = start;
  for (; end < text.length; end += 1) {
    const character = text.charAt(end);
    if (!joins(character) && !(character < "\u2e80" && isCounter(character))) {
      break;
    }
  }
  return text.slice(start, end);
}
