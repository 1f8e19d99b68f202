// Written by protoc-gen-contract 0.1.0. Do not edit.
// Time zones from data of our own, and what a local time can mean in one. The engine's zone data play no part: they are
// of another release on another machine.

import { DAY, dateOf, daysInMonth, daysOf, weekdayOf } from "./calendar.js";
import { ZONES } from "./data/zones.js";

/** When the clocks change each year, as seconds of the local time of a year. */
interface Change {
  readonly month: number;
  readonly week: number;
  readonly weekday: number;
  readonly seconds: number;
}

/** What holds after the last transition that is written out. */
interface Rule {
  readonly standard: number;
  readonly summer: number;
  readonly begin: Change;
  readonly end: Change;
}

/** A time zone. Offsets are in seconds east of UTC. */
export interface Zone {
  readonly first: number;
  readonly times: readonly number[];
  readonly offsets: readonly number[];
  readonly rule: Rule | undefined;
}

let packed: ReadonlyMap<string, readonly string[]> | undefined;
const read = new Map<string, Zone>();

/** The zone of an IANA name; undefined where there is none. Names are case sensitive. */
export function loadZone(name: string): Zone | undefined {
  packed ??= new Map(
    ZONES.split(";").flatMap((entry) => {
      const [names = "", ...data] = entry.split("|");
      return names.split(" ").map((each) => [each, data] as const);
    }),
  );
  const data = packed.get(name);
  let zone = read.get(name);
  if (data !== undefined && zone === undefined) {
    zone = unpacked(data);
    read.set(name, zone);
  }
  return zone;
}

function unpacked([shifts = "", history = "", rule = ""]: readonly string[]): Zone {
  const table = shifts.split(",").map(parsed);
  const times: number[] = [];
  const offsets: number[] = [];
  let time = 0;
  for (const [, seconds, distance = "", letter = ""] of history.matchAll(/(\+)?(-?[0-9a-z]+)([A-Z])/g)) {
    time += parsed(distance) * (seconds === undefined ? 900 : 1);
    times.push(time);
    offsets.push(table[letter.charCodeAt(0) - 65] as number);
  }
  return { first: table[0] as number, times, offsets, rule: rule === "" ? undefined : ruleOf(rule) };
}

function ruleOf(data: string): Rule {
  const [standard = 0, summer = 0, ...changes] = data.split(",").map(parsed);
  const change = (at: number): Change => {
    const [month = 0, week = 0, weekday = 0, seconds = 0] = changes.slice(at, at + 4);
    return { month, week, weekday, seconds };
  };
  return { standard, summer, begin: change(0), end: change(4) };
}

function parsed(text: string): number {
  return Number.parseInt(text, 36);
}

/** The zone's offset at an instant in seconds since the epoch. */
export function offsetAt(zone: Zone, instant: number): number {
  const { times, offsets, first, rule } = zone;
  if (rule !== undefined && (times.length === 0 || instant > (times[times.length - 1] as number))) {
    return byRule(rule, instant);
  }
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) <= instant) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low === 0 ? first : (offsets[low - 1] as number);
}

function byRule(rule: Rule, instant: number): number {
  const [year] = dateOf(Math.floor(instant / DAY));
  const begin = localSecond(year, rule.begin) - rule.standard;
  const end = localSecond(year, rule.end) - rule.summer;
  const isSummer = begin < end ? begin <= instant && instant < end : !(end <= instant && instant < begin);
  return isSummer ? rule.summer : rule.standard;
}

/** When a change happens, in seconds of the local clock before it. Week 5 is the last one of the month; Sunday is 0. */
function localSecond(year: number, { month, week, weekday, seconds }: Change): number {
  const first = daysOf(year, month, 1);
  const distance = (weekday - ((weekdayOf(first) + 1) % 7) + 7) % 7;
  let day = distance + 7 * (week - 1);
  if (day >= daysInMonth(year, month)) {
    day -= 7;
  }
  return (first + day) * DAY + seconds;
}

/**
 * The instants, earliest first, at which clocks in the zone show `local`, which counts seconds as if they showed UTC:
 * none in a gap, two in a fold.
 */
export function readings(zone: Zone, local: number): number[] {
  const around = [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2].map((days) => offsetAt(zone, local + days * DAY));
  return [...new Set(around)]
    .map((offset) => local - offset)
    .filter((instant) => offsetAt(zone, instant) === local - instant)
    .sort((one, other) => one - other);
}

/** The instant of a local time inside of a gap, read with the offset in force before the gap (RFC 5545). */
export function beforeGap(zone: Zone, local: number): number {
  let low = local - 2 * DAY;
  let high = local + 2 * DAY;
  // The last second at which the clocks show less than `local`, and the first one at which they show more.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (middle + offsetAt(zone, middle) > local) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return local - offsetAt(zone, low);
}
