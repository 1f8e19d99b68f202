// A moment in the sibling google.protobuf.Timestamp that receives it.

import { FIRST_SECOND, LAST_SECOND, daysOf, instantText, DAY } from "./calendar.js";

/** google.protobuf.Timestamp, as protobuf-es has it. */
export interface TimestampMessage {
  readonly $typeName: "google.protobuf.Timestamp";
  readonly seconds: bigint;
  readonly nanos: number;
}

/** The Timestamp of a canonical text. */
export function timestampOf(canonical: string): TimestampMessage {
  const [date = "", time = ""] = canonical.slice(0, -1).split("T");
  const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  const [clock = "", fraction = ""] = time.split(".");
  const [hour = 0, minute = 0, second = 0] = clock.split(":").map(Number);
  const seconds = daysOf(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
  return { $typeName: "google.protobuf.Timestamp", seconds: BigInt(seconds), nanos: Number(fraction.padEnd(9, "0")) };
}

/** The canonical text of a Timestamp; undefined where it is not set, or outside of the years 1 to 9999. */
export function timestampText(
  held: { readonly seconds: bigint; readonly nanos: number } | undefined,
): string | undefined {
  if (held === undefined || held.nanos < 0 || held.nanos > 999_999_999) {
    return undefined;
  }
  const inside = held.seconds >= BigInt(FIRST_SECOND) && held.seconds <= BigInt(LAST_SECOND);
  return inside ? instantText(Number(held.seconds), held.nanos) : undefined;
}
