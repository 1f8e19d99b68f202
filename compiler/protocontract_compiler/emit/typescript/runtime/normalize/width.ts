// Width folding: characters with a <wide> or <narrow> decomposition become that, and nothing else is composed.

import { WIDE } from "./data/width.js";
import { nfc, normalized } from "./composition.js";
import type { Edit } from "./edits.js";

// Half-width voiced and semi-voiced sound marks: the only folded characters that join the one before.
const MARKS = "\uff9e\uff9f";

interface Tables {
  readonly folded: ReadonlyMap<string, string>;
  readonly pattern: RegExp;
}

let tables: Tables | undefined;

function widthTables(): Tables {
  if (tables === undefined) {
    const folded = new Map<string, string>();
    let point = 0;
    for (const entry of WIDE.split(" ")) {
      const [skip = 0, to = 0] = entry.split(",").map((part) => Number.parseInt(part, 36));
      point += skip;
      folded.set(String.fromCodePoint(point), String.fromCodePoint(to));
    }
    const others = [...folded.keys()].filter((each) => !MARKS.includes(each)).join("");
    tables = { folded, pattern: new RegExp(`[^${MARKS}]?[${MARKS}]|[${others}]+(?![${MARKS}])`, "gu") };
  }
  return tables;
}

/** The edits of the folding. A folded sound mark composes with the kana before it, folded or not. */
export function widthEdits(text: string): Edit[] {
  const found: Edit[] = [];
  const { folded, pattern } = widthTables();
  for (const match of text.matchAll(pattern)) {
    const source = match[0];
    const characters = [...source];
    const result = characters.map((each) => folded.get(each) ?? each).join("");
    const edit = { start: match.index, end: match.index + source.length };
    if (characters.length === 2 && MARKS.includes(characters[1] as string)) {
      const joined = normalized(nfc(), result);
      if ([...joined].length === 1) {
        found.push({ ...edit, text: joined, kind: "unit" });
        continue;
      }
    }
    found.push({ ...edit, text: result, kind: "each" });
  }
  return found;
}
