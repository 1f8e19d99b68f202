// Cuts an annotated text into segments, for the page that shows entities in colour.
import { fromBinary } from "@bufbuild/protobuf";
import { type NamedEntity, type TextSample, TextSampleSchema } from "./gen/acme/text/v1/text_pb.js";

export interface Segment {
  readonly text: string;
  readonly colour: string;
}

const COLOURS: ReadonlyMap<string, string> = new Map([
  ["PERSON", "blue"],
  ["LOCATION", "green"],
  ["ORGANIZATION", "orange"],
]);

/** The colour of an entity. */
function colour(entity: NamedEntity): string {
  return COLOURS.get(entity.label) ?? "grey";
}

/** The segments of a text, those outside of all entities without colour. Of nested entities the outer one is shown. */
export function segments(sample: TextSample): Segment[] {
  // Offsets count code points; strings of JavaScript count UTF-16.
  const characters = Array.from(sample.rawText);
  const found: Segment[] = [];
  let place = 0;
  const outerFirst = [...sample.entities].sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const entity of outerFirst) {
    if (entity.startOffset < place) continue;
    if (entity.startOffset > place) {
      found.push({ text: characters.slice(place, entity.startOffset).join(""), colour: "" });
    }
    found.push({ text: characters.slice(entity.startOffset, entity.endOffset).join(""), colour: colour(entity) });
    place = entity.endOffset;
  }
  if (place < characters.length) found.push({ text: characters.slice(place).join(""), colour: "" });
  return found;
}

/** The segments of a record as it comes from the server. */
export function segmentsOfRecord(record: Uint8Array): Segment[] {
  return segments(fromBinary(TextSampleSchema, record));
}
