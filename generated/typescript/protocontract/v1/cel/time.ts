// Written by protoc-gen-contract 0.1.0. Do not edit.
// CEL's timestamps and durations: bigints of nanoseconds, exact and unbounded.
import { fail } from "./logic.js";

const SECOND = 1_000_000_000n;
const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const MIN_SECONDS = -62_135_596_800n;
const MAX_SECONDS = 253_402_300_799n;
const MAX_DURATION = 315_576_000_000n * SECOND + 999_999_999n;
const DAY = 86_400n;
const ERA_DAYS = 146_097n;

/** The quotient rounded down, and what is left of it. */
function divmod(value: bigint, by: bigint): [bigint, bigint] {
  const rest = ((value % by) + by) % by;
  return [(value - rest) / by, rest];
}

/** The nanoseconds of a Timestamp or Duration; zero where it is not set. */
export function nanos(message: { readonly seconds: bigint; readonly nanos: number } | undefined): bigint {
  return message === undefined ? 0n : message.seconds * SECOND + BigInt(message.nanos);
}

/** A duration read from a message in CEL: one of more than about 10,000 years is an error. */
export function durationInRange(duration: bigint): bigint {
  return -MAX_DURATION <= duration && duration <= MAX_DURATION ? duration : fail("duration out of range");
}

const clamp = (value: bigint): bigint => (value < INT_MIN ? INT_MIN : value > INT_MAX ? INT_MAX : value);
const checked = (value: bigint): bigint => (clamp(value) === value ? value : fail("integer overflow"));

export const addDuration = (left: bigint, right: bigint): bigint => checked(clamp(left) + clamp(right));
export const subDuration = (left: bigint, right: bigint): bigint => checked(clamp(left) - clamp(right));

function inYears(seconds: bigint, what: string): void {
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) fail(what);
}

export function addTimestamp(instant: bigint, duration: bigint): bigint {
  inYears(divmod(instant + duration, SECOND)[0], "timestamp overflow");
  return instant + duration;
}

export const addDurationTimestamp = (duration: bigint, instant: bigint): bigint => addTimestamp(instant, duration);

export function subTimestamp(instant: bigint, duration: bigint): bigint {
  return addTimestamp(instant, checked(-clamp(duration)));
}

export function subTimestamps(left: bigint, right: bigint): bigint {
  checked((divmod(left, SECOND)[0] - divmod(right, SECOND)[0]) * SECOND);
  return checked(left - right);
}

/** `timestamp(int)`: seconds since the epoch. */
export function timestampOfInt(seconds: bigint): bigint {
  inYears(seconds, "timestamp overflow");
  return seconds * SECOND;
}

/** `int(timestamp)`: seconds since the epoch, rounded down. */
export const intOfTimestamp = (instant: bigint): bigint => divmod(instant, SECOND)[0];

const padded = (value: bigint, width: number): string => String(value).padStart(width, "0");

/** Three, six or nine digits. */
function fraction(nanoseconds: bigint): string {
  if (nanoseconds % 1_000_000n === 0n) return padded(nanoseconds / 1_000_000n, 3);
  return nanoseconds % 1_000n === 0n ? padded(nanoseconds / 1_000n, 6) : padded(nanoseconds, 9);
}

/** `string(duration)`: seconds with 0, 3, 6 or 9 digits after the point. */
export function stringOfDuration(duration: bigint): string {
  const size = durationInRange(duration) < 0n ? -duration : duration;
  const rest = size % SECOND;
  return `${duration < 0n ? "-" : ""}${size / SECOND}${rest === 0n ? "" : `.${fraction(rest)}`}s`;
}

/** `string(timestamp)`: RFC 3339 in UTC with 0, 3, 6 or 9 digits after the point. */
export function stringOfTimestamp(instant: bigint): string {
  const [seconds, rest] = divmod(instant, SECOND);
  inYears(seconds, "timestamp out of range");
  const [year, text] = civilText(seconds);
  return `${padded(year, 4)}${text}${rest === 0n ? "" : `.${fraction(rest)}`}Z`;
}

/** `'%s'.format([timestamp])`: the year as it is, the fraction as short as it is. */
export function displayTimestamp(instant: bigint): string {
  const [seconds, rest] = divmod(instant, SECOND);
  const [year, text] = civilText(seconds);
  return `${year}${text}${rest === 0n ? "" : `.${padded(rest, 9).replace(/0+$/, "")}`}Z`;
}

function civilText(seconds: bigint): [bigint, string] {
  const [days, second] = divmod(seconds, DAY);
  const [year, month, day] = civil(days);
  const clock = [second / 3600n, (second / 60n) % 60n, second % 60n].map((part) => padded(part, 2)).join(":");
  return [year, `-${padded(month, 2)}-${padded(day, 2)}T${clock}`];
}

export const durationHours = (duration: bigint): bigint => duration / (3600n * SECOND);
export const durationMinutes = (duration: bigint): bigint => duration / (60n * SECOND);
export const durationSeconds = (duration: bigint): bigint => duration / SECOND;
/** The milliseconds within the second, with the duration's sign. */
export const durationMilliseconds = (duration: bigint): bigint => (duration / 1_000_000n) % 1000n;

/** A part of a timestamp's civil time: in UTC, where `zone` is empty, or at an offset like `+08:00`. */
export function timestampPart(instant: bigint, part: string, zone: string): bigint {
  const [seconds, rest] = divmod(instant, SECOND);
  if (part === "milliseconds") return rest / 1_000_000n;
  const [days, second] = divmod(seconds + offset(zone), DAY);
  if (part === "hours") return second / 3600n;
  if (part === "minutes") return (second / 60n) % 60n;
  if (part === "seconds") return second % 60n;
  if (part === "day_of_week") return divmod(days + 4n, 7n)[1];
  const [year, month, day] = civil(days);
  if (part === "year") return year;
  if (part === "month") return month - 1n;
  if (part === "date") return day;
  return part === "day_of_month" ? day - 1n : days - daysBefore(year);
}

function offset(zone: string): bigint {
  const match = /^([+-]?)([0-9]+):([0-9]+)$/.exec(zone);
  if (match === null) return 0n;
  const size = BigInt(match[2]!) * 3600n + BigInt(match[3]!) * 60n;
  return match[1] === "-" ? -size : size;
}

/** Year, month and day of a day since the epoch, in the proleptic Gregorian calendar (years may be 0 or less). */
export function civil(days: bigint): [year: bigint, month: bigint, day: bigint] {
  const [era, ofEra] = divmod(days + 719_468n, ERA_DAYS);
  const year = (ofEra - ofEra / 1460n + ofEra / 36_524n - ofEra / 146_096n) / 365n;
  const ofYear = ofEra - (365n * year + year / 4n - year / 100n);
  const shifted = (5n * ofYear + 2n) / 153n;
  const month = shifted < 10n ? shifted + 3n : shifted - 9n;
  return [400n * era + year + (month <= 2n ? 1n : 0n), month, ofYear - (153n * shifted + 2n) / 5n + 1n];
}

/** The day since the epoch on which a year begins. */
function daysBefore(year: bigint): bigint {
  const [era, ofEra] = divmod(year - 1n, 400n);
  return era * ERA_DAYS + ofEra * 365n + ofEra / 4n - ofEra / 100n + 306n - 719_468n;
}
