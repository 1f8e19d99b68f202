// Written by protoc-gen-contract 0.1.0. Do not edit.
// Unicode normalization (UAX #15) and width folding, as edits: which stretch of a text became what.
//
// The data are the contract's own, never the engine's: an engine may know another version of Unicode, and its results
// would differ. A stretch is cut as finely as the algorithm allows: two neighbours are apart exactly where both sides
// normalise independently.

import { splice, type Edit } from "./edits.js";
import { CANONICAL, COMBINING, EXCLUDED } from "./data/canonical.js";

/** The tables of one normalization form. */
export interface Form {
  /** Full decompositions that are not by rule. */
  readonly full: ReadonlyMap<number, readonly number[]>;
  readonly canonical: Canonical;
}

interface Canonical {
  readonly combining: ReadonlyMap<number, number>;
  /** Two code points, as first * 0x110000 + second, and what they compose to. */
  readonly composed: ReadonlyMap<number, number>;
  /** Code points that may compose with one before them. */
  readonly seconds: ReadonlySet<number>;
  readonly mappings: ReadonlyMap<number, readonly number[]>;
}

const SYLLABLES = 0xac00;
const LEADS = 0x1100;
const VOWELS = 0x1161;
const TAILS = 0x11a7;

let canonical: Canonical | undefined;
let nfcForm: Form | undefined;

/** The form NFC. */
export function nfc(): Form {
  nfcForm ??= formOf(new Map());
  return nfcForm;
}

/** A form whose characters have these compatibility decompositions beside the canonical ones. */
export function formOf(compatibility: ReadonlyMap<number, readonly number[]>): Form {
  const tables = canonicalTables();
  const full = new Map<number, readonly number[]>();
  const expand = (point: number): readonly number[] => {
    const mapping = compatibility.get(point) ?? tables.mappings.get(point);
    return mapping === undefined ? [point] : mapping.flatMap(expand);
  };
  for (const table of [tables.mappings, compatibility]) {
    for (const point of table.keys()) {
      full.set(point, expand(point));
    }
  }
  return { full, canonical: tables };
}

function canonicalTables(): Canonical {
  if (canonical !== undefined) {
    return canonical;
  }
  const excluded = new Set(numbers(EXCLUDED));
  const mappings = mappingsOf(CANONICAL);
  const composed = new Map<number, number>();
  const seconds = new Set<number>();
  for (const [point, [first, second]] of mappings) {
    if (first !== undefined && second !== undefined) {
      seconds.add(second);
      if (!excluded.has(point)) {
        composed.set(first * 0x110000 + second, point);
      }
    }
  }
  const combining = new Map<number, number>();
  let point = 0;
  for (const run of COMBINING.split(" ")) {
    // The distance from the end of the run before, the length of the run, and its class.
    const [skip = 0, length = 0, value = 0] = run.split(",").map((part) => Number.parseInt(part, 36));
    point += skip;
    for (const end = point + length; point < end; point += 1) {
      combining.set(point, value);
    }
  }
  canonical = { combining, composed, seconds, mappings };
  return canonical;
}

function numbers(packed: string): number[] {
  let last = 0;
  return packed.split(" ").map((part) => (last += Number.parseInt(part, 36)));
}

/** Decompositions as the data files have them: "<distance from the last code point>,<first>,<second> ...". */
export function mappingsOf(packed: string): Map<number, readonly number[]> {
  const found = new Map<number, readonly number[]>();
  let point = 0;
  for (const entry of packed.split(" ")) {
    const [skip = 0, ...mapping] = entry.split(",").map((part) => Number.parseInt(part, 36));
    point += skip;
    found.set(point, mapping);
  }
  return found;
}

// ---------------------------------------------------------------------------------------------------------------------
// Normalization

/** The text in the form. It must hold no half of a surrogate pair. */
export function normalized(form: Form, text: string): string {
  const edits = normalizationEdits(form, text);
  return edits.length > 0 ? splice(text, edits) : text;
}

/** The edits that turn a text into the form. It must hold no half of a surrogate pair. */
export function normalizationEdits(form: Form, text: string): Edit[] {
  const found: Edit[] = [];
  let cluster: number[] = [];
  let start = 0;
  let at = 0;
  let dependent = false;
  // A cluster is a character and those behind it that are not independent of it.
  const close = (): void => {
    if (dependent || (cluster.length === 1 && form.full.has(cluster[0] as number))) {
      pieces(form, cluster, start, found);
    }
    cluster = [];
    start = at;
    dependent = false;
  };
  while (at < text.length) {
    const point = text.codePointAt(at) as number;
    if (point >= 0x80 && isDependent(form, point)) {
      dependent = true;
    } else {
      close();
    }
    cluster.push(point);
    at += point > 0xffff ? 2 : 1;
  }
  close();
  return found;
}

function isDependent(form: Form, point: number): boolean {
  const first = form.full.get(point)?.[0] ?? point;
  const { combining, seconds } = form.canonical;
  return seconds.has(first) || combining.has(first) || isVowel(first) || isTail(first);
}

function isVowel(point: number): boolean {
  return point >= VOWELS && point < VOWELS + 21;
}

function isTail(point: number): boolean {
  return point > TAILS && point < TAILS + 28;
}

interface Part {
  readonly point: number;
  readonly combining: number;
  /** Number of the character that it came from. */
  readonly place: number;
}

interface Result {
  point: number;
  low: number;
  high: number;
}

/** Normalises one cluster by the steps of UAX #15, and keeps track of which characters each result came from. */
function pieces(form: Form, cluster: readonly number[], offset: number, edits: Edit[]): void {
  const results = compose(form, decompose(form, cluster));
  // Cut where everything before came from places before everything behind.
  const cuts = new Array<number>(results.length + 1);
  cuts[results.length] = cluster.length;
  for (let number = results.length - 1; number >= 0; number -= 1) {
    cuts[number] = Math.min(cuts[number + 1] as number, (results[number] as Result).low);
  }
  let start = 0;
  let reached = 0;
  let text = "";
  let from = offset;
  results.forEach((result, number) => {
    text += String.fromCodePoint(result.point);
    reached = Math.max(reached, result.high + 1);
    if (reached <= (cuts[number + 1] as number)) {
      const source = String.fromCodePoint(...cluster.slice(start, reached));
      if (text !== source) {
        edits.push({ start: from, end: from + source.length, text, kind: "unit" });
      }
      from += source.length;
      start = reached;
      text = "";
    }
  });
}

/** Decomposition in canonical order, which is a stable sort by class of each run of marks. */
function decompose(form: Form, cluster: readonly number[]): Part[] {
  const ordered: Part[] = [];
  let marks: Part[] = [];
  const flush = (): void => {
    if (marks.length > 0) {
      ordered.push(...marks.sort((one, other) => one.combining - other.combining));
      marks = [];
    }
  };
  cluster.forEach((source, place) => {
    for (const point of decomposed(form, source)) {
      const combining = form.canonical.combining.get(point) ?? 0;
      if (combining > 0) {
        marks.push({ point, combining, place });
      } else {
        flush();
        ordered.push({ point, combining, place });
      }
    }
  });
  flush();
  return ordered;
}

function decomposed(form: Form, point: number): readonly number[] {
  const syllable = point - SYLLABLES;
  if (syllable < 0 || syllable >= 11_172) {
    return form.full.get(point) ?? [point];
  }
  const lead = LEADS + Math.floor(syllable / 588);
  const vowel = VOWELS + Math.floor((syllable % 588) / 28);
  return syllable % 28 > 0 ? [lead, vowel, TAILS + (syllable % 28)] : [lead, vowel];
}

function compose(form: Form, ordered: readonly Part[]): Result[] {
  const results: Result[] = [];
  let starter: Result | undefined;
  let last = -1; // Class of the last mark that stayed behind the starter; -1 where none did.
  for (const { point, combining, place } of ordered) {
    if (starter !== undefined && last < combining) {
      const whole = composition(form, starter.point, point);
      if (whole !== undefined) {
        starter.point = whole;
        starter.low = Math.min(starter.low, place);
        starter.high = Math.max(starter.high, place);
        continue;
      }
    }
    const result = { point, low: place, high: place };
    results.push(result);
    if (combining > 0) {
      last = combining;
    } else {
      starter = result;
      last = -1;
    }
  }
  return results;
}

function composition(form: Form, first: number, second: number): number | undefined {
  if (isVowel(second) && first >= LEADS && first < LEADS + 19) {
    return SYLLABLES + ((first - LEADS) * 21 + second - VOWELS) * 28;
  }
  const syllable = first - SYLLABLES;
  if (isTail(second) && syllable >= 0 && syllable < 11_172 && syllable % 28 === 0) {
    return first + second - TAILS;
  }
  return form.canonical.composed.get(first * 0x110000 + second);
}
