// Written by protoc-gen-contract 0.1.0. Do not edit.
// Offsets into a text in the unit that a contract declares, and in UTF-16 code units, which JavaScript's texts have.

/** What offsets count. */
export type Unit = "code_point" | "utf8_byte" | "utf16";

/** The length of a text in the unit. */
export function lengthIn(text: string, unit: Unit): number {
  if (unit === "utf16") {
    return text.length;
  }
  let length = 0;
  for (let at = 0; at < text.length; at += stepAt(text, at)) {
    length += sizeAt(text, at, unit);
  }
  return length;
}

/** Where these offsets stand in UTF-16 code units, without those that stand inside of a character. */
export function toUtf16(text: string, unit: Unit, offsets: readonly number[]): ReadonlyMap<number, number> {
  return along(text, unit, offsets, (counted, at) => [counted, at]);
}

/** Where these offsets, given in UTF-16 code units between characters, stand in the unit. */
export function fromUtf16(text: string, unit: Unit, offsets: readonly number[]): ReadonlyMap<number, number> {
  return along(text, unit, offsets, (counted, at) => [at, counted]);
}

function along(
  text: string,
  unit: Unit,
  offsets: readonly number[],
  pair: (counted: number, at: number) => readonly [number, number],
): ReadonlyMap<number, number> {
  const sorted = [...new Set(offsets)].sort((one, other) => one - other);
  const places = new Map<number, number>();
  let next = 0;
  let counted = 0;
  for (let at = 0; at <= text.length && next < sorted.length; ) {
    const [from, to] = pair(counted, at);
    while (next < sorted.length && (sorted[next] as number) < from) {
      next += 1; // inside of a character
    }
    if (sorted[next] === from) {
      places.set(from, to);
      next += 1;
    }
    if (at === text.length) {
      break;
    }
    counted += sizeAt(text, at, unit);
    at += stepAt(text, at);
  }
  return places;
}

/** Code units of the character at a place. */
function stepAt(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
}

function sizeAt(text: string, at: number, unit: Unit): number {
  if (unit === "code_point") {
    return 1;
  }
  const step = stepAt(text, at);
  if (unit === "utf16" || step === 2) {
    return unit === "utf16" ? step : 4;
  }
  const code = text.charCodeAt(at);
  return code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
}
