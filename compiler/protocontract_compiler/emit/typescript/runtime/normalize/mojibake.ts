// Signs that a text was UTF-8 once and was decoded with another encoding: a heuristic for `reject: MOJIBAKE`.
//
// A byte sequence of UTF-8 that was read in a single-byte encoding looks like a lead character followed by one to three
// continuation characters. Such sequences occur in sound text as well, so each one is weighed. The heuristic prefers to
// miss damage over refusing sound text. It is the Python runtime's, weight for weight.

import { EAST_ASIAN, MORE_BYTES, READINGS, TWO_BYTES } from "./data/mojibake.js";
import { isLetter } from "./letters.js";
import { isDigit } from "./numerals.js";
import type { RejectClass } from "./text.js";
import { isWhiteSpace } from "./white_space.js";

/** Text decoded with the wrong encoding. */
export const MOJIBAKE: RejectClass = {
  ruleId: "text.mojibake",
  what: "signs of having been decoded with the wrong encoding",
  present: looksMisdecoded,
};

// What stands behind a word in sound text: closing marks, dashes, trade marks, degrees, a space that does not break.
const ORDINARY = "…’”–—‘“»›™®©°\xa0\xad·";
// Of these, what may stand between two letters.
const JOINING = "’–—\xa0\xad·";
const CURRENCY = "$¢£¤¥€";
// Operands of √, ≈ and ∆.
const OPERANDS = "πΩµ∂∑∏∫∞°";
// A small letter and a capital behind it, as no word has them inside.
const RISE = /[a-zß-öø-ÿђ-џа-яёґ][A-ZÀ-ÖØ-ÞЂ-ЏА-ЯҐ]/;
const BOX = /^[\u2500-\u259f]/;
const C1 = "\\x80\\x82-\\x84\\x86-\\x8c\\x8e\\x91-\\x9c\\x9e\\x9f";

/** One encoding that the text may have been decoded with. */
interface Reading {
  readonly name: string;
  readonly sequence: RegExp;
  readonly toByte: ReadonlyMap<string, number>;
}

interface Tables {
  readonly readings: readonly Reading[];
  /** Matches wherever there is a sign of damage, and now and then elsewhere: one quick look at the text. */
  readonly anySign: RegExp;
  readonly twoBytes: RegExp;
  readonly moreBytes: RegExp;
}

let tables: Tables | undefined;
let eastAsian: RegExp | undefined;

function tablesOf(): Tables {
  if (tables !== undefined) {
    return tables;
  }
  const leads = new Set<string>();
  const behind = new Set<string>();
  const readings = READINGS.map(([name, characters]): Reading => {
    const all = [...characters];
    const some = (first: number, last: number): string =>
      `[${all.slice(first - 0x80, last - 0x7f).map(escaped).join("")}]`;
    const next = some(0x80, 0xbf);
    all.forEach((character, at) => {
      if (at < 0x40) {
        behind.add(character);
      } else if (at >= 0x42 && at <= 0x74) {
        leads.add(character);
      }
    });
    return {
      name,
      sequence: new RegExp(
        `${some(0xc2, 0xdf)}${next}|${some(0xe0, 0xef)}${next}{2}|${some(0xf0, 0xf4)}${next}{3}`,
        "g",
      ),
      toByte: new Map(all.map((character, at) => [character, at + 0x80])),
    };
  });
  const classOf = (characters: ReadonlySet<string>): string => [...characters].map(escaped).join("");
  tables = {
    readings,
    anySign: new RegExp(`[${classOf(leads)}][${classOf(behind)} ]|[${C1}]`),
    twoBytes: new RegExp(`^${TWO_BYTES}$`, "u"),
    moreBytes: new RegExp(`^${MORE_BYTES}$`, "u"),
  };
  return tables;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Ideographs of UTF-8 that were read as GBK or Shift JIS, and what GBK makes of two U+FFFD. */
function eastAsianSign(): RegExp {
  if (eastAsian === undefined) {
    const [starts = "", across = "", behind = ""] = EAST_ASIAN.map((packed) => {
      let last = 0;
      return packed
        .split(" ")
        .map((each) => escaped(String.fromCharCode((last += Number.parseInt(each, 36)))))
        .join("");
    });
    eastAsian = new RegExp(`[${starts}][${across}][${behind}]|[縺繧繝][\uff61-\uff7f]|锟斤拷`);
  }
  return eastAsian;
}

/** Whether the text shows signs of having been decoded with the wrong encoding. */
export function looksMisdecoded(text: string): boolean {
  if (/^[\0-\x7f]*$/.test(text)) {
    return false;
  }
  if (/[\u4e00-\u9fff]/.test(text) && eastAsianSign().test(text)) {
    return true;
  }
  const { anySign, readings } = tablesOf();
  if (!anySign.test(text)) {
    return false;
  }
  return new RegExp(`[${C1}]|[a-z]Ã[ \\xa0]`).test(text) || readings.some((reading) => isDamaged(text, reading));
}

/** Whether the sequences that this reading finds weigh two or more. */
function isDamaged(text: string, { name, sequence, toByte }: Reading): boolean {
  let weight = 0;
  let lastStart = -1;
  let lastEnd = -1;
  let lastCounted = false;
  for (const match of text.matchAll(sequence)) {
    const [source] = match;
    const start = match.index;
    const end = start + source.length;
    const bytes = [...source].map((character) => toByte.get(character) as number);
    const touching = start === lastEnd;
    lastEnd = end;
    if (bytes[0] === 0xed && isPaired(text.slice(start, start + 6), toByte)) {
      return true;
    }
    const decoded = decodedOf(bytes);
    if (decoded === undefined) {
      lastCounted = false;
      continue;
    }
    // Two sequences that touch, both of which make sense, are no coincidence, except as a word or line art.
    if (touching && lastCounted && !couldBeMeant(text.slice(lastStart, end))) {
      return true;
    }
    lastCounted = true;
    lastStart = start;
    const before = [...text.slice(Math.max(start - 2, 0), start)].pop() ?? "";
    const after = [...text.slice(end, end + 2)][0] ?? "";
    weight += weigh(name, source, decoded, before, after);
    if (weight >= 2) {
      return true;
    }
  }
  return false;
}

/** Whether characters are a pair of surrogates, each written as if it were a character (CESU-8). */
function isPaired(characters: string, toByte: ReadonlyMap<string, number>): boolean {
  const bytes = [...characters].map((each) => toByte.get(each) ?? (each <= "\xff" ? each.charCodeAt(0) : 0x3f));
  const within = (at: number, low: number, high: number): boolean =>
    (bytes[at] ?? 0) >= low && (bytes[at] ?? 0) <= high;
  return (
    bytes[0] === 0xed && within(1, 0xa0, 0xaf) && within(2, 0x80, 0xbf) &&
    bytes[3] === 0xed && within(4, 0xb0, 0xbf) && within(5, 0x80, 0xbf)
  );
}

/** Whether a run of sequences reads as a word with an ordinary end, or as a line of boxes. */
function couldBeMeant(run: string): boolean {
  const characters = [...run];
  if (characters.every((each) => BOX.test(each))) {
    return true;
  }
  return characters.every((each) => isLetter(each) || ORDINARY.includes(each)) && !RISE.test(run);
}

/** The character that bytes of UTF-8 mean, if it is one that people write. */
function decodedOf(bytes: readonly number[]): string | undefined {
  const [lead = 0, second = 0] = bytes;
  const isValid =
    !(lead === 0xe0 && second < 0xa0) &&
    !(lead === 0xed && second > 0x9f) &&
    !(lead === 0xf0 && second < 0x90) &&
    !(lead === 0xf4 && second > 0x8f);
  if (!isValid) {
    return undefined;
  }
  const held = lead & (bytes.length === 2 ? 0x1f : bytes.length === 3 ? 0x0f : 0x07);
  const decoded = String.fromCodePoint(bytes.slice(1).reduce((sum, byte) => (sum << 6) | (byte & 0x3f), held));
  const { twoBytes, moreBytes } = tablesOf();
  return (bytes.length === 2 ? twoBytes : moreBytes).test(decoded) ? decoded : undefined;
}

/** 2 for a sequence that sound text does not hold, 1 for a doubtful one, 0 for one that it may well hold. */
function weigh(encoding: string, source: string, decoded: string, before: string, after: string): number {
  const lead = source.charAt(0);
  const behind = source.slice(1);
  const first = behind.charAt(0);
  if (/[\x80-\x9f]/.test(behind)) {
    return 2;
  }
  const inWord = !isSpace(before + after) && (isLetter(before) || isLetter(after));
  if (source.length === 4) {
    return 2;
  }
  if (encoding === "cp437") {
    return inWord && !(BOX.test(lead) && BOX.test(behind)) ? 2 : 0;
  }
  if (encoding === "mac-roman" && source.length === 2) {
    if (!"√¬ƒ≈∆".includes(lead) || !inWord) {
      return 0;
    }
    return OPERANDS.includes(behind) ? 0 : 2;
  }
  if (encoding === "cp1251" && source.length === 2) {
    // Ukrainian and Serbian have these pairs; next to a Latin letter they cannot be meant.
    return /[A-Za-z]/.test(before + after) ? 2 : 0;
  }
  if ("×–—“”‘’".includes(lead)) {
    return 0;
  }
  if ([...source].every(isLetter)) {
    // A word may hold these letters as they are: "zvlášť", "рупії", "Öštrič", "LĚŚOJSKI".
    if (encoding === "cp1251") {
      return isUpper(first) ? 2 : 0;
    }
    if (isLower(source)) {
      return 0;
    }
    const western = source.length === 2 && decoded >= "\xc3" && decoded <= "\u017f" && "ÃÄÅĂĹ".includes(lead);
    if (isUpper(source) && (isUpper(before) || isUpper(after)) && !(western && lead === "Ã")) {
      return 0;
    }
    if (!western && source.length === 2 && !isLetter(before) && isLower(behind)) {
      return 0;
    }
  } else if (encoding === "cp1251" && !isUpper(first) && couldBeMeant(behind)) {
    return 0;
  }
  if ([...behind].every((each) => ORDINARY.includes(each))) {
    if (lead === "Â" && source.length === 2 && "\xa0©®°»·".includes(behind)) {
      return isUpper(before) ? 0 : 2;
    }
    if (lead === "Ã" && source.length === 2) {
      return weighATilde(behind, before, after);
    }
    if (behind === "\xa0" && !isLetter(before) && isLetter(after)) {
      return 1;
    }
    if (source.length === 2 && decoded >= "\u0370") {
      // One letter of another alphabet between ours: damage would have several that touch ("HUHLL Õ…Õ" is a face).
      return 0;
    }
    return isLetter(after) && ![...behind].some((each) => JOINING.includes(each)) ? 2 : 0;
  }
  if (source.length === 2 && CURRENCY.includes(behind) && !"ÂÃ".includes(lead)) {
    return isLower(before) || isLower(after) ? 1 : 0;
  }
  return 2;
}

/** As `weigh` for "Ã" and what may stand behind a word: most letters of Western Europe begin with it. */
function weighATilde(behind: string, before: string, after: string): number {
  if (behind === "\xa0") {
    return isUpper(before) ? (isLower(after) ? 1 : 0) : 2;
  }
  if (isLower(before)) {
    // A capital behind a small letter: "humanitÃ©".
    return 2;
  }
  const around = [...before, ...after];
  if (behind === "™" || (behind === "—" && around.length > 0 && around.every(isDigit))) {
    return 2;
  }
  if ("©®°·".includes(behind) && !isUpper(before)) {
    // Behind a capital it may be the mark of a brand; at the beginning of a word it is half of a letter.
    return 2;
  }
  return isLetter(after) && !"’—\xad·".includes(behind) ? 2 : 0;
}

/** Whether there is nothing but white space, U+001C to U+001F among it. */
function isSpace(text: string): boolean {
  return [...text].every((each) => isWhiteSpace(each) || (each >= "\x1c" && each <= "\x1f"));
}

/** Whether all letters with a case are capitals, and there are some. */
function isUpper(text: string): boolean {
  return /\p{Uppercase}/u.test(known(text)) && !/[\p{Lowercase}\p{Lt}]/u.test(known(text));
}

/** Whether all letters with a case are small, and there are some. */
function isLower(text: string): boolean {
  return /\p{Lowercase}/u.test(known(text)) && !/[\p{Uppercase}\p{Lt}]/u.test(known(text));
}

/** What the tables know of a text: letters that only a younger engine knows have no case for Python either. */
function known(text: string): string {
  return [...text].filter((each) => isLetter(each) || /[\p{Nl}\p{So}\p{M}]/u.test(each)).join("");
}
