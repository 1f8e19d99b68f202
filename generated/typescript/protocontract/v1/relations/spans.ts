// Written by protoc-gen-contract 0.1.0. Do not edit.
// The relation "spans": stretches of a text, given by offsets, and how they follow the text's normalization.
//
// Spans are half open. Offsets must stand on a boundary between code points; grapheme clusters may be cut.

import { mapSpan, type EditMap } from "../normalize/edits.js";
import { isWhiteSpace } from "../normalize/white_space.js";
import { describe, refusal, type Refusal } from "../refusal.js";
import { fromUtf16, lengthIn, toUtf16, type Unit } from "./offsets.js";
import { conflicts, type Place } from "./overlap.js";

/** An offset as a message holds it: 64-bit fields are bigint. */
export type Offset = number | bigint;

/** The options of one `spans` relation. */
export interface SpansOptions {
  readonly unit?: Unit;
  readonly allowOverlap?: boolean;
  readonly allowNesting?: boolean;
  readonly allowEmpty?: boolean;
  readonly noEdgeWhitespace?: boolean;
  readonly order?: "any" | "any_order" | "by_start";
}

/** All that is wrong with the spans: the first problem of each span, then overlaps; undefined where nothing is. */
export type SpansChecker = (
  text: string,
  starts: readonly Offset[],
  ends: readonly Offset[],
  surfaces?: readonly string[],
) => Refusal[] | undefined;

/** The check with these options. An empty surface, which is what an unset field reads as, says nothing. */
export function spansChecker({
  unit = "code_point",
  allowOverlap = false,
  allowNesting = false,
  allowEmpty = false,
  noEdgeWhitespace = false,
  order = "any",
}: SpansOptions): SpansChecker {
  return (text, starts, ends, surfaces) => {
    const { problems, places } = locate(text, unit, starts, ends, surfaces, allowEmpty);
    const found: Refusal[] = [];
    problems.forEach((located, index) => {
      let problem = located;
      const place = places[index];
      if (problem === undefined && place !== undefined && noEdgeWhitespace && hasEdge(text, place)) {
        problem = refusal("spans.edge", "white space at the edge of the span; expected none", index);
      }
      const before = starts[index - 1];
      if (problem === undefined && order === "by_start" && before !== undefined && (starts[index] as Offset) < before) {
        problem = refusal("spans.order", "the span starts before the one ahead of it; expected spans by start", index);
      }
      if (problem !== undefined) {
        found.push(problem);
      }
    });
    if (!allowOverlap) {
      const what = allowNesting ? "crosses" : "overlaps";
      for (const index of conflicts(places, allowNesting)) {
        found.push(
          refusal("spans.overlap", `the span ${what} an earlier one of the list; expected spans apart`, index),
        );
      }
    }
    return found.length > 0 ? found : undefined;
  };
}

interface Located {
  /** What is wrong with each span. */
  readonly problems: (Refusal | undefined)[];
  /** The sound ones, in UTF-16 code units. */
  readonly places: (Place | undefined)[];
}

function locate(
  text: string,
  unit: Unit,
  starts: readonly Offset[],
  ends: readonly Offset[],
  surfaces: readonly string[] | undefined,
  allowEmpty: boolean,
): Located {
  const length = lengthIn(text, unit);
  const problems: (Refusal | undefined)[] = [];
  const inside: number[] = [];
  starts.forEach((start, index) => {
    const end = ends[index] as Offset;
    if (start > end) {
      problems.push(refusal("spans.order", "the span starts behind its end; expected start <= end", index));
    } else if (start < 0 || end > length) {
      problems.push(
        refusal("spans.bounds", `the span leaves the text; expected offsets from 0 to ${length} (${unit})`, index),
      );
    } else {
      problems.push(undefined);
      inside.push(Number(start), Number(end));
    }
  });
  const moved = toUtf16(text, unit, inside);
  const places = starts.map((start, index): Place | undefined => {
    if (problems[index] !== undefined) {
      return undefined;
    }
    const from = moved.get(Number(start));
    const to = moved.get(Number(ends[index]));
    if (from === undefined || to === undefined) {
      problems[index] = refusal(
        "spans.boundary",
        `the span cuts a character; expected offsets between characters (${unit})`,
        index,
      );
      return undefined;
    }
    const surface = surfaces?.[index] ?? "";
    if (from === to && !allowEmpty) {
      problems[index] = refusal("spans.empty", "the span is empty; expected start < end", index);
      return undefined;
    }
    const covered = text.slice(from, to);
    if (surface !== "" && surface !== covered) {
      problems[index] = refusal(
        "spans.surface",
        `the span covers another text; expected its surface, got ${describe(covered)} for ${describe(surface)}`,
        index,
      );
      return undefined;
    }
    return [from, to];
  });
  return { problems, places };
}

function hasEdge(text: string, [start, end]: Place): boolean {
  return start < end && (isWhiteSpace(text.charAt(start)) || isWhiteSpace(text.charAt(end - 1)));
}

/** Spans after the normalization of their text. */
export interface MovedSpans {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Empty where the span had none. */
  readonly surfaces: readonly string[];
}

/**
 * The spans of the text `before`, moved through its edits, or what is wrong: at most one refusal a span. Offsets count
 * the unit on both sides.
 */
export function movedSpans(
  unit: Unit,
  before: string,
  edits: EditMap,
  starts: readonly Offset[],
  ends: readonly Offset[],
  surfaces: readonly string[] | undefined,
): MovedSpans | Refusal[] {
  const located = locate(before, unit, starts, ends, surfaces, true);
  const problems: Refusal[] = [];
  const images: Place[] = [];
  located.problems.forEach((problem, index) => {
    const place = located.places[index];
    const image = place === undefined ? undefined : mapSpan(edits, ...place);
    if (problem !== undefined) {
      problems.push(problem);
    } else if (image === undefined) {
      problems.push(
        refusal(
          "spans.lost",
          "the span has no exact image in the normalised text; expected one whose edges and content are left",
          index,
        ),
      );
    } else {
      images.push(image);
    }
  });
  if (problems.length > 0) {
    return problems;
  }
  const moved = fromUtf16(edits.text, unit, images.flat());
  return {
    starts: images.map(([start]) => moved.get(start) as number),
    ends: images.map(([, end]) => moved.get(end) as number),
    surfaces: images.map(([start, end], index) => (surfaces?.[index] ? edits.text.slice(start, end) : "")),
  };
}
