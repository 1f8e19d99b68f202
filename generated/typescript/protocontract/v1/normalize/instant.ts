// Written by protoc-gen-contract 0.1.0. Do not edit.
// The normalizer "instant": what people and machines write for a moment, made RFC 3339 in UTC.
//
// The result has 0, 3, 6 or 9 fraction digits. What can be read in two ways is refused unless an option decides it.

import { describe, isRefusal, refusal, type Refusal } from "../refusal.js";
import { DAY, FIRST_SECOND, LAST_SECOND, dateOf, daysInMonth, daysOf, instantText } from "./calendar.js";
import { readInstant, syntax, type Epoch, type Order, type Written } from "./instant_parse.js";
import { beforeGap, loadZone, offsetAt, readings, type Zone } from "./zone.js";

/** The options of one field. What is absent is refused. */
export interface InstantOptions {
  /** IANA name of the zone of local times. */
  readonly zone?: string;
  readonly order?: Order;
  /** Digits of a bare number's unit down to nanoseconds: 9 for seconds, 0 for nanoseconds. */
  readonly epochDigits?: number;
  readonly fold?: "earlier" | "later";
  readonly shiftGap?: boolean;
  readonly leapSecond?: boolean;
  readonly hour24?: boolean;
  readonly dateOnly?: boolean;
  readonly truncate?: boolean;
  /** Bounds, as the normalizer itself writes them. */
  readonly min?: string;
  readonly max?: string;
}

/** The canonical text of a moment, the value itself where it is that already, or why it is refused. */
export type InstantNormalizer = (value: string | number | bigint) => string | Refusal;

/** The normalizer with these options. */
export function instantNormalizer(options: InstantOptions): InstantNormalizer {
  // Canonical texts without their Z order as the moments do: "." sorts behind the end of the text.
  const low = options.min?.slice(0, -1) ?? "";
  const high = options.max?.slice(0, -1) ?? "9999-12-31T23:59:59.999999999";
  return (value) => {
    const result = convert(options, value);
    if (isRefusal(result) || (low <= result.slice(0, -1) && result.slice(0, -1) <= high)) {
      return result;
    }
    return refusal(
      "instant.range",
      `outside of the declared bounds; expected a moment inside, got ${describe(value)}`,
    );
  };
}

type Moment = readonly [seconds: number, nanos: number];

function convert(options: InstantOptions, value: string | number | bigint): string | Refusal {
  const written = typeof value === "string" ? readInstant(value, options.order) : epochOf(value);
  if (isRefusal(written)) {
    return written;
  }
  const moment = "year" in written ? local(options, written, value) : epoch(options, written, value);
  if (isRefusal(moment)) {
    return moment;
  }
  const [seconds, nanos] = moment;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) {
    return outside(value);
  }
  return instantText(seconds, nanos);
}

function outside(value: unknown): Refusal {
  return refusal("instant.range", `outside of the years 1 to 9999 in UTC, got ${describe(value)}`);
}

function epochOf(value: number | bigint): Epoch {
  const digits = String(BigInt(value));
  return { negative: value < 0, whole: digits.replace("-", ""), fraction: "" };
}

function epoch({ epochDigits: digits, truncate }: InstantOptions, number: Epoch, value: unknown): Moment | Refusal {
  if (digits === undefined) {
    return refusal(
      "instant.ambiguous",
      "a bare number: seconds, a compact date or a spreadsheet's day; " +
        `expected a declared unit, got ${describe(value)}`,
    );
  }
  if (number.fraction.length > digits && truncate !== true) {
    return syntax("finer than a nanosecond; expected at most nine digits of a second", value);
  }
  const whole = number.whole.replace(/^0+/, "");
  if (whole.length > 30) {
    return outside(value);
  }
  const nanos = BigInt(`${whole}${number.fraction.slice(0, digits).padEnd(digits, "0")}`);
  const signed = number.negative ? -nanos : nanos;
  const rest = ((signed % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return [Number((signed - rest) / 1_000_000_000n), Number(rest)];
}

function local(options: InstantOptions, written: Written, value: unknown): Moment | Refusal {
  if (written.fraction.length > 9 && options.truncate !== true) {
    return syntax("more than nine fraction digits; expected at most nine", value);
  }
  const { hour, second } = written;
  if (hour === undefined && options.dateOnly !== true) {
    return syntax("a date without a time; expected both", value);
  }
  if (hour === 24 && options.hour24 !== true) {
    return syntax("hour 24; expected 0 to 23", value);
  }
  const leap = second === 60 ? 1 : 0;
  if (leap > 0 && options.leapSecond !== true) {
    return syntax("second 60; expected 0 to 59", value);
  }
  const days = daysOf(written.year, written.month, written.day);
  const clock = days * DAY + (hour ?? 0) * 3600 + written.minute * 60 + second - leap;
  const instant = utc(options, written, clock, value);
  if (isRefusal(instant)) {
    return instant;
  }
  if (leap > 0 && !endsMonth(instant)) {
    return syntax("second 60 inside a month; expected it at the end of a month in UTC only", value);
  }
  return [instant + leap, Number(written.fraction.slice(0, 9).padEnd(9, "0"))];
}

function endsMonth(instant: number): boolean {
  const days = Math.floor(instant / DAY);
  const [year, month, day] = dateOf(days);
  return instant - days * DAY === DAY - 1 && day === daysInMonth(year, month);
}

function utc(options: InstantOptions, written: Written, clock: number, value: unknown): number | Refusal {
  const { offset, zoneOffset } = written;
  if (written.zone === undefined) {
    if (offset !== undefined) {
      const agrees = zoneOffset === undefined || zoneOffset === offset || written.vague;
      return agrees ? clock - offset : disagrees(value);
    }
    if (options.zone !== undefined) {
      return inZone(options, loadZone(options.zone) as Zone, clock, value);
    }
    return zoneOffset === undefined
      ? refusal(
          "instant.zone",
          `a local time without a zone; expected an offset or a declared zone, got ${describe(value)}`,
        )
      : clock - zoneOffset;
  }
  const zone = loadZone(written.zone);
  if (zone === undefined) {
    return refusal("instant.zone", `an unknown zone in brackets; expected an IANA name, got ${describe(value)}`);
  }
  if (offset === undefined) {
    return inZone(options, zone, clock, value);
  }
  // Z and -00:00 say that the local offset is not known, so they agree with every zone (RFC 9557, section 3.4).
  const instant = clock - offset;
  return written.vague || offsetAt(zone, instant) === offset ? instant : disagrees(value);
}

function disagrees(value: unknown): Refusal {
  return refusal("instant.zone", `offset and zone disagree; expected the zone's own offset, got ${describe(value)}`);
}

function inZone(options: InstantOptions, zone: Zone, clock: number, value: unknown): number | Refusal {
  const found = readings(zone, clock);
  const [earliest] = found;
  if (earliest === undefined) {
    return options.shiftGap === true
      ? beforeGap(zone, clock)
      : refusal(
          "instant.gap",
          `a local time that a clock change skips; expected one that exists, got ${describe(value)}`,
        );
  }
  if (found.length === 1 || options.fold === "earlier") {
    return earliest;
  }
  return options.fold === "later"
    ? (found[found.length - 1] as number)
    : refusal(
        "instant.fold",
        `a local time that occurs twice; expected an offset or a declared fold, got ${describe(value)}`,
      );
}
