// A text while it is annotated: what is marked in it, and how marks follow while somebody types.
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { NamedEntitySchema, type TextSample, TextSampleSchema } from "./gen/acme/text/v1/text_pb.js";
import type { Violation } from "./gen/protocontract/v1/violation.js";

/** A sample without a text. */
export function newDraft(): TextSample {
  return create(TextSampleSchema, { id: crypto.randomUUID(), createdAt: timestampNow() });
}

/** Code points before a place of a text that is given in UTF-16, as browsers do. Offsets of the contract count these. */
export function codePoints(text: string, place: number): number {
  return Array.from(text.slice(0, place)).length;
}

/** Marks the stretch between two places, given in UTF-16, as an entity. */
export function mark(draft: TextSample, from: number, to: number, label: string): void {
  const startOffset = codePoints(draft.rawText, from);
  const endOffset = codePoints(draft.rawText, to);
  draft.entities.push(
    create(NamedEntitySchema, { label, startOffset, endOffset, text: draft.rawText.slice(from, to) }),
  );
}

/** Gives an entity other offsets; its text is what lies between them. */
export function place(draft: TextSample, index: number, startOffset: number, endOffset: number): void {
  const entity = draft.entities[index];
  if (entity === undefined) return;
  const text = Array.from(draft.rawText).slice(Math.max(startOffset, 0), Math.max(endOffset, 0)).join("");
  Object.assign(entity, { startOffset, endOffset, text });
}

/** Replaces the text. Marks stay with their words: what was typed in front of one moves it. */
export function rewrite(draft: TextSample, text: string): void {
  const before = Array.from(draft.rawText);
  const after = Array.from(text);
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head += 1;
  let tail = 0;
  const rest = Math.min(before.length, after.length) - head;
  while (tail < rest && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const end = before.length - tail;
  const shift = after.length - before.length;
  draft.rawText = text;
  draft.entities.forEach((entity, index) => {
    const { startOffset, endOffset } = entity;
    const start = startOffset >= end ? startOffset + shift : Math.min(startOffset, head);
    const stop = endOffset <= head ? endOffset : Math.max(endOffset, end) + shift;
    place(draft, index, start, Math.max(start, stop));
  });
}

/** A stretch of the text that the same entities cover, by their numbers. */
export interface Piece {
  readonly text: string;
  readonly entities: readonly number[];
}

/** The text cut wherever an entity begins or ends. Entities that leave the text are drawn as far as it goes. */
export function pieces(draft: TextSample): Piece[] {
  const characters = Array.from(draft.rawText);
  const inside = (offset: number): number => Math.min(Math.max(offset, 0), characters.length);
  const cuts = new Set([0, characters.length]);
  for (const { startOffset, endOffset } of draft.entities) cuts.add(inside(startOffset)).add(inside(endOffset));
  const places = [...cuts].sort((one, other) => one - other);
  return places.slice(1).map((to, number) => {
    const from = places[number] ?? 0;
    const entities = draft.entities.flatMap(({ startOffset, endOffset }, index) =>
      startOffset <= from && to <= endOffset ? [index] : [],
    );
    return { text: characters.slice(from, to).join(""), entities };
  });
}

/** Number of the entity that a violation is about; undefined for one of the text or of the whole sample. */
export function entityOf({ path }: Violation): number | undefined {
  const number = /^entities\[([0-9]+)\]/.exec(path)?.[1];
  return number === undefined ? undefined : Number(number);
}
