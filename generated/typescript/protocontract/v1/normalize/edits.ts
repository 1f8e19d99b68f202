// Written by protoc-gen-contract 0.1.0. Do not edit.
// What a normalization did to a text, exactly: the replaced stretches of each step, and how offsets follow them.
//
// Offsets count UTF-16 code units here and stand between characters. One that falls inside of a replaced stretch has no
// image of its own; the stretch's kind says where it goes, or that it is lost.

/** Where an offset goes that falls inside of a replaced stretch. */
export type Kind =
  /** Nowhere: the stretch became something else as a whole (a composed letter). */
  | "unit"
  /** Along: the stretch was replaced character by character, each by one of the same length. */
  | "each"
  /** To the outer end: what is left of a run of white space belongs to the span that reaches into the run. */
  | "run";

/** The code units `start` to `end` of a text, which became `text`. Edits of one step do not overlap. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly kind: Kind;
}

/** The text after the edits, which must be in order. */
export function splice(text: string, edits: readonly Edit[]): string {
  let result = "";
  let done = 0;
  for (const edit of edits) {
    result += text.slice(done, edit.start) + edit.text;
    done = edit.end;
  }
  return result + text.slice(done);
}

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
  readonly kind: Kind;
}

/** How offsets into a text follow its normalization. `text` is the normalised text. */
export interface EditMap {
  readonly text: string;
  readonly steps: readonly (readonly Stretch[])[];
}

/** The map of a normalization whose steps made these edits, each step on the text that the one before it left. */
export function editMap(text: string, steps: readonly (readonly Edit[])[]): EditMap {
  return { text, steps: steps.map(stretches).filter((step) => step.length > 0) };
}

function stretches(edits: readonly Edit[]): Stretch[] {
  const found: Stretch[] = [];
  let shift = 0;
  for (const { start, end, text, kind } of edits) {
    // One for one moves nothing and has no inside.
    if (kind === "each" || (text.length === 1 && end - start === 1)) {
      continue;
    }
    found.push({ start, end, newStart: start + shift, newEnd: start + shift + text.length, kind });
    shift += text.length - (end - start);
  }
  return found;
}

/**
 * The image of the stretch from `start` to `end`; undefined where it has no exact one: it begins or ends inside of a
 * stretch that was replaced as a whole, or nothing of it is left. An empty stretch stays empty.
 */
export function mapSpan(map: EditMap, start: number, end: number): readonly [number, number] | undefined {
  const newStart = move(map, start, false);
  if (newStart === undefined) {
    return undefined;
  }
  if (start === end) {
    return [newStart, newStart];
  }
  const newEnd = move(map, end, true);
  return newEnd === undefined || newStart >= newEnd ? undefined : [newStart, newEnd];
}

function move(map: EditMap, offset: number, isEnd: boolean): number | undefined {
  let moved: number | undefined = offset;
  for (const step of map.steps) {
    moved = moveOnce(step, moved, isEnd);
    if (moved === undefined) {
      return undefined;
    }
  }
  return moved;
}

function moveOnce(step: readonly Stretch[], offset: number, isEnd: boolean): number | undefined {
  // The last stretch that starts at the offset or before it.
  let low = 0;
  let high = step.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((step[middle] as Stretch).start <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const stretch = step[low - 1];
  if (stretch === undefined) {
    return offset;
  }
  if (offset >= stretch.end) {
    return stretch.newEnd + offset - stretch.end;
  }
  if (offset === stretch.start || stretch.newStart === stretch.newEnd) {
    return stretch.newStart;
  }
  if (stretch.kind === "unit") {
    return undefined;
  }
  return isEnd ? stretch.newEnd : stretch.newStart;
}
