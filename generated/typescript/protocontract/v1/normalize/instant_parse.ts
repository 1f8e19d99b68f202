// Written by protoc-gen-contract 0.1.0. Do not edit.
// The written forms of a date and time, read into numbers. No zone data and no policy here.
//
// Forms: RFC 3339 and ISO 8601 (extended, and basic with T), RFC 2822, HTTP, asctime, JavaScript's toString, numeric
// dates in any order, English month names, Chinese and Japanese dates.

import { size } from "../codepoints.js";
import { describe, refusal, type Refusal } from "../refusal.js";
import { daysInMonth, daysOf, weekdayOf } from "./calendar.js";
import { isWhiteSpace, trimmed, WHITE_SPACE_CLASS } from "./white_space.js";

/** A date and time as written: nothing is converted, and only the calendar date is known to exist. */
export interface Written {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Absent for a date alone. */
  hour?: number;
  minute: number;
  second: number;
  fraction: string;
  /** Seconds east of UTC, where an offset is written. */
  offset?: number;
  /** Z and -00:00 state no local offset. */
  vague: boolean;
  /** The zone, or the offset, of an RFC 9557 suffix. */
  zone?: string;
  zoneOffset?: number;
}

/** A bare number: digits before and after the point. */
export interface Epoch {
  readonly negative: boolean;
  readonly whole: string;
  readonly fraction: string;
}

/** Which of two numbers is the day. */
export type Order = "DMY" | "MDY" | undefined;

/** A refusal of the form. */
export function syntax(what: string, value: unknown): Refusal {
  return refusal("instant.syntax", `${what}, got ${describe(value)}`);
}

const MAX_LENGTH = 512; // no written date is longer; what is longer is refused before any pattern runs
const W = `[${WHITE_SPACE_CLASS}]`;
const SIGN = "[+\\-\\u2212]";

const DAYS: Readonly<Record<string, number>> = {
  mon: 0, tue: 1, wed: 2, thu: 3, fri: 4, sat: 5, sun: 6,
  monday: 0, tuesday: 1, wednesday: 2, thursday: 3, friday: 4, saturday: 5, sunday: 6,
  tues: 1, thur: 3, thurs: 3,
};
const MONTHS: Readonly<Record<string, number>> = {
  january: 1, february: 2, march: 3, april: 4, may: 5, june: 6,
  july: 7, august: 8, september: 9, october: 10, november: 11, december: 12,
  jan: 1, feb: 2, mar: 3, apr: 4, jun: 6, jul: 7, aug: 8, sep: 9, oct: 10, nov: 11, dec: 12, sept: 9,
};
const CJK_DAYS: readonly string[] = ["一月", "二火", "三水", "四木", "五金", "六土", "日天"];

interface Patterns {
  readonly [name: string]: RegExp;
}

let compiled: Patterns | undefined;

// Without the flag u, case is ignored within ASCII only.
function patterns(): Patterns {
  if (compiled !== undefined) {
    return compiled;
  }
  const anyOf = (names: Readonly<Record<string, number>>): string =>
    Object.keys(names).sort((one, other) => other.length - one.length).join("|");
  const day = `(?:${anyOf(DAYS)})(?![A-Za-z])`;
  const month = `(${anyOf(MONTHS)})\\.?(?![A-Za-z])`;
  compiled = {
    enDay: new RegExp(`(${day})(?:\\.?,${W}*|\\.?${W}+)`, "iy"),
    cjkDay: new RegExp(
      `${W}*(?:[(（](?:星期|周|週|礼拜|禮拜)?([一二三四五六日天月火水木金土])(?:曜日?)?[)）]` +
        `|(?:星期|周|週|礼拜|禮拜)([一二三四五六日天])|([月火水木金土日])曜日?)`,
      "y",
    ),
    ymd: new RegExp(
      `([0-9]{4})(?:([-/.])([0-9]{1,2})\\2([0-9]{1,2})|${W}+([0-9]{1,2})${W}+([0-9]{1,2}))(?![0-9])`,
      "y",
    ),
    numeric: /([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]+)/y,
    basic: /([0-9]{4})([0-9]{2})([0-9]{2})[Tt]([0-9]{2})([0-9]{2})(?:([0-9]{2})(?:[.,]([0-9]+))?)?(?![0-9:.,])/y,
    cjkDate: new RegExp(`([0-9]+)${W}*年${W}*([0-9]{1,2})${W}*月${W}*([0-9]{1,2})${W}*[日号號]`, "y"),
    dayMonth: new RegExp(`([0-9]{1,2})(?:-${month}-|${W}+${month},?${W}+)([0-9]+)(?![0-9])`, "iy"),
    monthDay: new RegExp(`${month}${W}+([0-9]{1,2})(?![0-9])(?:,?${W}+([0-9]+)(?![0-9:]))?`, "iy"),
    trailingYear: new RegExp(`${W}+([0-9]+)$`, "g"),
    gap: new RegExp(`[Tt]|,?${W}+`, "y"),
    dayPart: new RegExp(`${W}*(上午|下午|凌晨|中午|晚上|晚|午前|午後)${W}*`, "y"),
    clock: /([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?(?![0-9:.,])/y,
    cjkClock: new RegExp(
      `([0-9]{1,2})${W}*[时時点點](?:${W}*([0-9]{1,2})(?:${W}*分(?:${W}*([0-9]{1,2})${W}*秒)?)?)?(?![0-9:.,])`,
      "y",
    ),
    amPm: new RegExp(`${W}*([AaPp])(?:[Mm]|\\.[Mm]\\.)(?![A-Za-z])`, "y"),
    z: new RegExp(`${W}*[Zz](?![A-Za-z])`, "y"),
    offset: new RegExp(`${W}*(${SIGN})([0-9]{2})(?::?([0-9]{2}))?(?![0-9:])`, "y"),
    utc: new RegExp(
      `${W}*(?:UTC|GMT|UT)(?![A-Za-z])` +
        `(?:(${SIGN})(?:([0-9]{1,2})(?::([0-9]{2}))?|([0-9]{2})([0-9]{2}))(?![0-9:]))?`,
      "iy",
    ),
    abbreviation: new RegExp(`(?:${W}+[A-Za-z]{1,5}|[A-Y]{1,5})(?=${W}*(?:$|[\\[(]))`, "y"),
    suffix: /\[(!?)([^[\]=]+)(?:=([A-Za-z0-9-]+))?\]/y,
    comment: new RegExp(`${W}*\\((?:[^()]|\\([^()]*\\))*\\)`, "y"), // comments may nest (RFC 5322); once is enough
    timeOnly: /[0-9]{1,2}:[0-9]{2}(?![0-9])/y,
  };
  return compiled;
}

/** Reads a date and time. The order never turns a year-first date around. */
export function readInstant(text: string, order: Order): Written | Epoch | Refusal {
  const bare = trimmed(text);
  if (bare === "") {
    return syntax("empty; expected a date and time", text);
  }
  if (size(bare) > MAX_LENGTH) {
    return syntax("not a date; expected a date and time", text);
  }
  const folded = bare
    .replace(/[\uff10-\uff19]/g, (each) => String.fromCharCode(each.charCodeAt(0) - 0xfee0))
    .replaceAll("\uff1a", ":");
  const number = /^([+-]?)([0-9]+)(?:\.([0-9]+))?$/.exec(folded.replace(/^\u2212/, "-"));
  if (number !== null) {
    return { negative: number[1] === "-", whole: number[2] ?? "", fraction: number[3] ?? "" };
  }
  try {
    return new Reader(folded, text).dateTime(order);
  } catch (stop) {
    if (stop instanceof Stop) {
      return stop.refusal;
    }
    throw stop;
  }
}

/** Reading ends with a refusal. Control flow of this module: never leaves it. */
class Stop extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** One pass over one text. */
class Reader {
  #text: string;
  readonly #raw: string;
  #at = 0;

  constructor(text: string, raw: string) {
    this.#text = text;
    this.#raw = raw;
  }

  #fail(what: string, ruleId = "instant.syntax"): never {
    throw new Stop(refusal(ruleId, `${what}, got ${describe(this.#raw)}`));
  }

  #match(name: string): RegExpExecArray | null {
    const pattern = patterns()[name] as RegExp;
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text);
  }

  #take(name: string): RegExpExecArray | null {
    const found = this.#match(name);
    if (found !== null) {
      this.#at += found[0].length;
    }
    return found;
  }

  // -- dates

  dateTime(order: Order): Written {
    let weekday = this.#leadingWeekday();
    const basic = this.#take("basic");
    let written: Written;
    if (basic !== null) {
      const [, year = "", month = "", day = "", hour = "", minute = "", second, fraction] = basic;
      written = this.#date(year, month, day);
      this.#setTime(written, Number(hour), minute, second, fraction);
    } else {
      [written, weekday] = this.#separated(order, weekday);
    }
    if (weekday !== undefined && weekdayOf(daysOf(written.year, written.month, written.day)) !== weekday) {
      this.#fail("the weekday is another day's; expected the date's own");
    }
    this.#zone(written);
    if (this.#at !== this.#text.length) {
      this.#fail("not a date and time that is known; expected for example RFC 3339");
    }
    return written;
  }

  #leadingWeekday(): number | undefined {
    const english = this.#take("enDay");
    if (english !== null) {
      return DAYS[(english[1] as string).toLowerCase()];
    }
    const cjk = this.#take("cjkDay");
    if (cjk === null) {
      return undefined;
    }
    while (this.#at < this.#text.length && isSeparator(this.#text.charAt(this.#at))) {
      this.#at += 1;
    }
    return cjkDay(cjk);
  }

  /** A date and, after a gap, a time. asctime puts the year behind the time. */
  #separated(order: Order, leading: number | undefined): [Written, number | undefined] {
    let weekday = leading;
    let written: Written;
    let attached = false;
    const spread = this.#take("monthDay");
    if (spread !== null) {
      const [, name = "", day = "", year] = spread;
      if (year === undefined) {
        return [this.#asctime(name, day), weekday];
      }
      written = this.#date(this.#year(year), monthOf(name), day);
    } else {
      [written, attached] = this.#plainDate(order);
    }
    const after = this.#take("cjkDay");
    if (after !== null) {
      const second = cjkDay(after);
      if (weekday !== undefined && weekday !== second) {
        this.#fail("two weekdays that differ; expected one");
      }
      weekday = second;
    }
    this.#time(written, attached || after !== null);
    return [written, weekday];
  }

  /** The date, and whether a time may follow it without a gap. */
  #plainDate(order: Order): [Written, boolean] {
    let found = this.#take("ymd");
    if (found !== null) {
      const [, year = "", , month, day, spacedMonth = "", spacedDay = ""] = found;
      return [this.#date(year, month ?? spacedMonth, day ?? spacedDay), false];
    }
    found = this.#take("cjkDate");
    if (found !== null) {
      const [, year = "", month = "", day = ""] = found;
      return [this.#date(this.#year(year), month, day), true];
    }
    found = this.#take("numeric");
    if (found !== null) {
      const [, first = "", , second = "", year = ""] = found;
      return [this.#ordered(Number(first), Number(second), this.#year(year), order), false];
    }
    found = this.#take("dayMonth");
    if (found !== null) {
      const [, day = "", dashed, spaced = "", year = ""] = found;
      return [this.#date(this.#year(year), monthOf(dashed ?? spaced), day), false];
    }
    if (this.#match("timeOnly") !== null) {
      this.#fail("a time without a date; expected both");
    }
    if (/民國|民国|明治|大正|昭和|平成|令和/.test(this.#text)) {
      this.#fail("a year of another calendar; expected the Gregorian year");
    }
    return this.#fail("not a date; expected a date and time");
  }

  #year(digits: string): string {
    return digits.length === 4 ? digits : this.#fail("a year that does not have four digits; expected four");
  }

  #ordered(first: number, second: number, year: string, order: Order): Written {
    if (order === undefined && first <= 12 && second <= 12 && first !== second) {
      this.#fail("day and month can be read in two orders; expected a declared order", "instant.ambiguous");
    }
    const dayFirst = order === "DMY" || (order === undefined && first > 12);
    return dayFirst ? this.#date(year, second, first) : this.#date(year, first, second);
  }

  #date(year: string, month: string | number, day: string | number): Written {
    const written = { year: Number(year), month: Number(month), day: Number(day) };
    if (
      written.month < 1 ||
      written.month > 12 ||
      written.day < 1 ||
      written.day > daysInMonth(written.year, written.month)
    ) {
      this.#fail("a date that the calendar does not have; expected one that exists");
    }
    return { ...written, minute: 0, second: 0, fraction: "", vague: false };
  }

  /** `Nov  6 08:49:37 1994`, with a zone before the year where date(1) wrote it. */
  #asctime(month: string, day: string): Written {
    const tail = this.#match("trailingYear");
    if (tail === null) {
      return this.#fail("a date without a year; expected one");
    }
    const written = this.#date(this.#year(tail[1] as string), monthOf(month), day);
    this.#text = this.#text.slice(0, tail.index);
    this.#time(written, false);
    if (written.hour === undefined) {
      this.#fail("not a date and time that is known; expected for example RFC 3339");
    }
    return written;
  }

  // -- times

  /** The time, if there is one: after a gap, a word for the part of the day, or a date that ends in a word. */
  #time(written: Written, attached: boolean): void {
    const start = this.#at;
    let part = this.#take("dayPart");
    if (part === null) {
      if (this.#take("gap") === null && !attached) {
        return;
      }
      part = this.#take("dayPart");
    }
    const colons = this.#take("clock");
    const found = colons ?? this.#take("cjkClock");
    if (found === null) {
      this.#at = start; // a date alone; a zone may follow
      return;
    }
    const half = colons !== null ? this.#take("amPm") : null;
    let hour = Number(found[1]);
    if (half !== null) {
      if (part !== null) {
        this.#fail("two words for the part of the day; expected one");
      }
      hour = this.#halfDay(hour, (half[1] as string).toLowerCase() === "p");
    } else if (part !== null) {
      hour = this.#partOfDay(hour, part[1] as string);
    }
    this.#setTime(written, hour, found[2] ?? "0", found[3], colons?.[4]);
  }

  #halfDay(hour: number, afternoon: boolean): number {
    if (hour < 1 || hour > 12) {
      this.#fail("an hour that no half of the day has; expected 1 to 12");
    }
    return (hour % 12) + (afternoon ? 12 : 0);
  }

  /** 上午 and 下午 as CLDR prints them (12 to 11), 午前 and 午後 from 0, the others by what they can mean. */
  #partOfDay(hour: number, part: string): number {
    switch (part) {
      case "上午":
      case "下午":
        return this.#halfDay(hour, part === "下午");
      case "午前":
        return this.#within(hour, 0, 11);
      case "午後":
        return this.#within(hour, 0, 11) + 12;
      case "凌晨":
        return this.#within(hour === 12 ? 0 : hour, 0, 6);
      case "中午":
        return this.#within(hour >= 1 && hour <= 3 ? hour + 12 : hour, 10, 15);
      default:
        // Midnight "in the evening" belongs to no one day, so 12 is not among them.
        return this.#within(hour, 5, 11) + 12;
    }
  }

  #within(hour: number, low: number, high: number): number {
    if (hour < low || hour > high) {
      this.#fail("an hour that this part of the day does not have; expected one that it has");
    }
    return hour;
  }

  #setTime(written: Written, hour: number, minute: string, second?: string, fraction?: string): void {
    written.hour = hour;
    written.minute = Number(minute);
    written.second = Number(second ?? "0");
    written.fraction = fraction ?? "";
    if (hour > 24 || written.minute > 59 || written.second > 60) {
      this.#fail("a time that no clock shows; expected hour, minute and second in their ranges");
    }
    if (hour === 24 && (written.minute > 0 || written.second > 0 || /[1-9]/.test(written.fraction))) {
      this.#fail("a time past 24:00; expected one that exists");
    }
  }

  // -- zones

  #zone(written: Written): void {
    const zoned = this.#offset(written);
    if (zoned && (this.#match("z") ?? this.#match("offset") ?? this.#match("utc")) !== null) {
      this.#fail("two zones; expected one", "instant.zone");
    }
    for (let suffix = this.#take("suffix"); suffix !== null; suffix = this.#take("suffix")) {
      this.#suffix(written, suffix[1] !== "", suffix[2] as string, suffix[3]);
    }
    if (zoned) {
      this.#take("comment");
    } else if (this.#match("abbreviation") !== null) {
      this.#fail("a zone abbreviation, which several zones share; expected an offset", "instant.zone");
    }
  }

  #offset(written: Written): boolean {
    if (this.#take("z") !== null) {
      written.offset = 0;
      written.vague = true;
      return true;
    }
    const plain = this.#take("offset");
    if (plain !== null) {
      written.offset = this.#offsetSeconds(plain[1], plain[2], plain[3]);
      written.vague = written.offset === 0 && plain[1] !== "+";
      return true;
    }
    const named = this.#take("utc");
    if (named !== null) {
      const [, sign, hours, minutes, hours4, minutes4] = named;
      written.offset = sign === undefined ? 0 : this.#offsetSeconds(sign, hours ?? hours4, minutes ?? minutes4);
      written.vague = sign === undefined;
      return true;
    }
    return false;
  }

  #offsetSeconds(sign: string | undefined, hours: string | undefined, minutes: string | undefined): number {
    const [whole, part] = [Number(hours), Number(minutes ?? "0")];
    if (whole > 23 || part > 59) {
      this.#fail("an offset that is too large; expected at most 23:59", "instant.zone");
    }
    const seconds = whole * 3600 + part * 60;
    return sign === "+" || seconds === 0 ? seconds : -seconds;
  }

  #suffix(written: Written, critical: boolean, name: string, value: string | undefined): void {
    if (value !== undefined) {
      if (critical) {
        this.#fail("a critical suffix that is not known; expected none", "instant.zone");
      }
      return;
    }
    if (written.zone !== undefined || written.zoneOffset !== undefined) {
      this.#fail("two zone suffixes; expected one", "instant.zone");
    }
    const pattern = patterns()["offset"] as RegExp;
    pattern.lastIndex = 0;
    const offset = pattern.exec(name);
    if (offset !== null && offset[0].length === name.length) {
      written.zoneOffset = this.#offsetSeconds(offset[1], offset[2], offset[3]);
    } else {
      written.zone = name;
    }
  }
}

function isSeparator(character: string): boolean {
  return character === "," || character === "，" || isWhiteSpace(character);
}

function monthOf(name: string): number {
  return MONTHS[name.toLowerCase()] as number;
}

function cjkDay(found: RegExpExecArray): number {
  const character = found.slice(1).find((each) => each !== undefined) as string;
  return CJK_DAYS.findIndex((each) => each.includes(character));
}
