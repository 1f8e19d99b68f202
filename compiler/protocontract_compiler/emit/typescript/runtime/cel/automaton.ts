// Regular expressions as position automata: each character is looked at once, so that no pattern is slow on any text.

/** Code points as sorted, disjoint, inclusive ranges. */
type Ranges = readonly (readonly number[])[];

function holds(ranges: Ranges, point: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const [first, last] = ranges[middle] as readonly [number, number];
    if (point < first) high = middle;
    else if (point > last) low = middle + 1;
    else return true;
  }
  return false;
}

/**
 * The matcher of a pattern: `sets` has the characters of each of its places, `follow` the places that may come after one.
 * `start` and `end` say whether a match begins and ends where the text does.
 */
export function automaton(
  sets: readonly Ranges[], follow: readonly (readonly number[])[], first: readonly number[], last: readonly number[],
  nullable: boolean, start: boolean, end: boolean,
): { test(text: string): boolean } {
  const final = new Set(last);
  return {
    test(text) {
      if (nullable && (!start || !end || text === "")) return true;
      let states: ReadonlySet<number> = new Set();
      let began = false;
      for (const character of text) {
        const point = character.codePointAt(0)!;
        const next = new Set<number>();
        const enter = (places: readonly number[]): void => {
          for (const place of places) if (holds(sets[place]!, point)) next.add(place);
        };
        for (const state of states) enter(follow[state]!);
        if (!start || !began) enter(first);
        began = true;
        states = next;
        if (!end && [...states].some((state) => final.has(state))) return true;
        if (start && states.size === 0) return false;
      }
      return end && [...states].some((state) => final.has(state));
    },
  };
}
