// Written by protoc-gen-contract 0.1.0. Do not edit.
// Case folding (Unicode's full one), from a table of our own: JavaScript has none, and its lower case is another thing.

import { FOLDED, FOLDED_LONG } from "./data/casefold.js";
import { mappingsOf } from "./composition.js";

let table: ReadonlyMap<number, string> | undefined;

function folding(): ReadonlyMap<number, string> {
  if (table === undefined) {
    const found = new Map<number, string>();
    let point = 0;
    for (const run of FOLDED.split(" ")) {
      // The distance from the last code point of the run before, the number of code points, their distance from one
      // another, and from each to what it becomes.
      const [skip = 0, count = 0, stride = 0, shift = 0] = run.split(",").map((part) => Number.parseInt(part, 36));
      point += skip;
      for (let number = 0; number < count; number += 1) {
        found.set(point + number * stride, String.fromCodePoint(point + number * stride + shift));
      }
      point += (count - 1) * stride;
    }
    for (const [from, to] of mappingsOf(FOLDED_LONG)) {
      found.set(from, String.fromCodePoint(...to));
    }
    table = found;
  }
  return table;
}

/** The text without distinctions of case. */
export function caseFolded(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) {
    return text.toLowerCase();
  }
  const folded = folding();
  let result = "";
  for (const character of text) {
    result += folded.get(character.codePointAt(0) as number) ?? character;
  }
  return result;
}
