// Written by protoc-gen-contract 0.1.0. Do not edit.
// Which spans of a list overlap or cross one that comes earlier in the list.

/** A span: start and end. */
export type Place = readonly [number, number];

interface Span {
  readonly start: number;
  readonly end: number;
  readonly index: number;
}

/**
 * Indices of the spans that share text with an earlier one of the list, in order.
 *
 * Spans that touch are apart. With `allowNesting` a span may lie inside of another or equal it, and only spans that
 * cross count. An undefined one takes no part. One sort, and logarithmic for each span where spans conflict.
 */
export function conflicts(places: readonly (Place | undefined)[], allowNesting: boolean): number[] {
  const spans: Span[] = [];
  places.forEach((place, index) => {
    if (place !== undefined) {
      spans.push({ start: place[0], end: place[1], index });
    }
  });
  const sorted = [...spans].sort((one, other) => one.start - other.start || other.end - one.end);
  return apart(sorted, allowNesting) ? [] : search(spans, allowNesting);
}

/** Whether no two spans, sorted by start and then the longer first, conflict. */
function apart(sorted: readonly Span[], allowNesting: boolean): boolean {
  const open: number[] = [];
  for (const { start, end } of sorted) {
    while (open.length > 0 && (open[open.length - 1] as number) <= start) {
      open.pop();
    }
    const innermost = open[open.length - 1];
    if (innermost !== undefined && (!allowNesting || innermost < end)) {
      return false;
    }
    open.push(end);
  }
  return true;
}

function search(spans: readonly Span[], allowNesting: boolean): number[] {
  const offsets = [...new Set(spans.flatMap(({ start, end }) => [start, end]))].sort((one, other) => one - other);
  const rank = new Map(offsets.map((offset, place) => [offset, place]));
  const farthestEnd = new RangeMaximum(rank.size); // By start: the largest end.
  const earliestStart = new RangeMaximum(rank.size); // By end: the smallest start, negated.
  const found: number[] = [];
  for (const { start, end, index } of spans) {
    const first = rank.get(start) as number;
    const last = rank.get(end) as number;
    // Spans that start inside of this one and end behind it, and spans that end inside and start before it.
    const crossing =
      farthestEnd.over(first + 1, last) > end ||
      earliestStart.over(first + 1, last) > -start ||
      (!allowNesting && farthestEnd.over(0, last) > start);
    if (crossing) {
      found.push(index);
    }
    farthestEnd.add(first, end);
    earliestStart.add(last, -start);
  }
  return found;
}

/** The largest value at places `first` to `last` (half open), under additions: a segment tree. */
class RangeMaximum {
  readonly #size: number;
  readonly #tree: number[];

  constructor(size: number) {
    this.#size = size;
    this.#tree = new Array<number>(2 * size).fill(-Infinity);
  }

  add(place: number, value: number): void {
    for (let at = place + this.#size; at > 0 && (this.#tree[at] as number) < value; at >>= 1) {
      this.#tree[at] = value;
    }
  }

  over(first: number, last: number): number {
    let best = -Infinity;
    let low = first + this.#size;
    let high = last + this.#size;
    for (; low < high; low >>= 1, high >>= 1) {
      if (low & 1) {
        best = Math.max(best, this.#tree[low] as number);
        low += 1;
      }
      if (high & 1) {
        high -= 1;
        best = Math.max(best, this.#tree[high] as number);
      }
    }
    return best;
  }
}
