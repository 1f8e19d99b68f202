// Written by protoc-gen-contract 0.1.0. Do not edit.
// The proleptic Gregorian calendar in whole numbers, and RFC 3339 in UTC.

export const DAY = 86_400;
/** 0001-01-01T00:00:00Z in seconds since the epoch. */
export const FIRST_SECOND = -62_135_596_800;
/** 9999-12-31T23:59:59Z in seconds since the epoch. */
export const LAST_SECOND = 253_402_300_799;

/** Days of a month. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) {
    return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  }
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days since 1970-01-01 of a date in any year. */
export function daysOf(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const ofEra = shifted - era * 400;
  const ofYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468;
}

/** Year, month and day: the inverse of `daysOf`. March starts the year here, so that the leap day is its last day. */
export function dateOf(days: number): readonly [number, number, number] {
  const era = Math.floor((days + 719_468) / 146_097);
  const ofEra = days + 719_468 - era * 146_097;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * ofYear + 2) / 153);
  const month = shifted + (shifted < 10 ? 3 : -9);
  const day = ofYear - Math.floor((153 * shifted + 2) / 5) + 1;
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day];
}

/** The day of the week; Monday is 0. */
export function weekdayOf(days: number): number {
  return (((days + 3) % 7) + 7) % 7;
}

/** RFC 3339 in UTC with 0, 3, 6 or 9 fraction digits; the seconds must lie within the years 1 to 9999. */
export function instantText(seconds: number, nanos: number): string {
  const days = Math.floor(seconds / DAY);
  const rest = seconds - days * DAY;
  const [year, month, day] = dateOf(days);
  const digits = String(nanos).padStart(9, "0");
  const fraction = nanos === 0 ? "" : `.${digits.endsWith("000000") ? digits.slice(0, 3) : digits.replace(/000$/, "")}`;
  const date = `${padded(year, 4)}-${padded(month)}-${padded(day)}`;
  const time = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60].map((each) => padded(each)).join(":");
  return `${date}T${time}${fraction}Z`;
}

function padded(value: number, size = 2): string {
  return String(value).padStart(size, "0");
}
