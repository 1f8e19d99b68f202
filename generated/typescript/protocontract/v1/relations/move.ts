// Written by protoc-gen-contract 0.1.0. Do not edit.
// Moves the spans of a message through the normalization of their text.

import type { EditMap } from "../normalize/edits.js";
import { changeBelow, refuseAll, type At, type Run, type Site } from "../violation.js";
import type { Unit } from "./offsets.js";
import { movedSpans, type Offset } from "./spans.js";

/** How a field of an item is read and written. `tail` is its path below the item. */
export interface ItemField<T, Read, Written> {
  readonly tail: string;
  readonly read: (item: T) => Read;
  readonly write: (item: T, value: Written) => void;
}

/** The fields of an item that make it a span. */
export interface SpanFields<T> {
  readonly start: ItemField<T, Offset, number>;
  readonly end: ItemField<T, Offset, number>;
  readonly surface?: ItemField<T, string, string>;
}

/**
 * Moves the spans in `items` through the edits of the text `before` that they point into.
 *
 * A span that is wrong, or has no exact image, is refused and all spans stay as they are: offsets of two texts in one
 * list would be worse than none.
 */
export function moveSpans<T>(
  run: Run,
  site: Site,
  at: At,
  items: readonly T[],
  unit: Unit,
  before: string,
  edits: EditMap,
  { start, end, surface }: SpanFields<T>,
): void {
  const moved = movedSpans(unit, before, edits, items.map(start.read), items.map(end.read), surface && items.map(surface.read));
  if (!("starts" in moved)) {
    refuseAll(run, site, moved, items, at);
    return;
  }
  items.forEach((item, index) => {
    for (const [field, values] of [
      [start, moved.starts],
      [end, moved.ends],
    ] as const) {
      const old = field.read(item);
      if (Number(old) !== values[index]) {
        field.write(item, values[index] as number);
        changeBelow(run, site, field.tail, old, field.read(item), at, index);
      }
    }
    const written = surface?.read(item);
    if (surface !== undefined && written !== moved.surfaces[index]) {
      surface.write(item, moved.surfaces[index] as string);
      changeBelow(run, site, surface.tail, written, moved.surfaces[index], at, index);
    }
  });
}
