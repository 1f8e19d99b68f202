// Units of measurement: their spelling and dimension, from tables of Pint's definitions. How to convert them is computed
// when the contract is compiled.
//
// Names are looked up as Pint does: a prefix, a unit, an "s". A small grammar (names, exponents, *, /) reads the rest.

import { ALIASES, DIMENSIONS, PREFIXES, UNITS } from "./data/units.js";
import { isAlphanumeric } from "./letters.js";
import { isDigit } from "./numerals.js";

/** A unit as canonical names with their exponents: `key` is the same for every spelling. */
export interface Unit {
  readonly key: string;
  readonly factors: readonly (readonly [Named, number])[];
}

interface Named {
  readonly name: string;
  /** Of a unit that no prefix goes before: it has an offset (degC), or is logarithmic (decibels). */
  readonly kind: "" | "offset" | "logarithmic";
  /** Exponents of base dimensions, doubled: some units have halves. */
  readonly dimension: readonly number[];
}

// Bounds that no unit in use comes near.
const LONGEST = 80;
const MOST_FACTORS = 8;
const HIGHEST_POWER = 12;
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺";

let spellings: ReadonlyMap<string, Named> | undefined;

function tables(): ReadonlyMap<string, Named> {
  if (spellings === undefined) {
    const found = new Map<string, Named>();
    for (const entry of UNITS) {
      const [names = "", kind = "", powers = ""] = entry.split("|");
      const dimension = DIMENSIONS.map(() => 0);
      for (const each of powers === "" ? [] : powers.split(" ")) {
        const [at = "", power = ""] = each.split("^");
        dimension[Number(at)] = Number(power);
      }
      const all = names.split(" ");
      const named = {
        name: all[0] as string,
        kind: kind as Named["kind"],
        dimension,
      };
      all.forEach((each) => found.set(each, named));
    }
    spellings = found;
  }
  return spellings;
}

/** The unit that a text names; undefined where it names none. */
export function parseUnit(given: string): Unit | undefined {
  if (given === "" || [...given].length > LONGEST) {
    return undefined;
  }
  const text = trimSpaces(given).replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+/g, (run) =>
    `^${[...run].map((each) => "0123456789-+".charAt(SUPERSCRIPTS.indexOf(each))).join("")}`,
  );
  const powers = new Map<string, [Named, number]>();
  let sign = text.startsWith("1/") ? -1 : 1;
  let at = sign < 0 ? 2 : 0;
  for (let count = 1; ; count += 1) {
    const operator = operatorFrom(text, at);
    const factors = factorsOf(text.slice(at, operator?.start ?? text.length));
    if (factors === undefined) {
      return undefined;
    }
    for (const [named, power] of factors) {
      powers.set(named.name, [named, (powers.get(named.name)?.[1] ?? 0) + sign * power]);
    }
    if (operator === undefined) {
      break;
    }
    if (count === MOST_FACTORS) {
      return undefined;
    }
    // As in speech, a stroke divides by what follows it only: m/s*s is (m/s)*s.
    sign = operator.divides ? -1 : 1;
    at = operator.end;
  }
  let factors = [...powers.values()].filter(([, power]) => power !== 0);
  if (factors.length > 1 || factors.some(([, power]) => power !== 1)) {
    // Inside of a compound, a unit with an offset (degC) can only mean a difference.
    const differences = factors.map(([named, power]): [Named | undefined, number] => [difference(named), power]);
    if (differences.some(([named]) => named === undefined)) {
      return undefined;
    }
    factors = differences as [Named, number][];
  }
  factors.sort(([one], [other]) => (one.name < other.name ? -1 : 1));
  return { key: factors.map(([named, power]) => `${named.name}^${power}`).join(" "), factors };
}

function difference(named: Named): Named | undefined {
  switch (named.kind) {
    case "offset":
      return tables().get(`delta_${named.name}`);
    case "logarithmic":
      return undefined;
    default:
      return named;
  }
}

interface Operator {
  readonly start: number;
  readonly end: number;
  readonly divides: boolean;
}

function isSpace(character: string): boolean {
  return character === " " || character === "\u2003";
}

/** Without spaces at the ends: other white space is folded to these before. */
function trimSpaces(text: string): string {
  return text.replace(/^[ \u2003]+|[ \u2003]+$/g, "");
}

/** The first operator or gap from a place on. */
function operatorFrom(text: string, from: number): Operator | undefined {
  const skip = (place: number): number => {
    let end = place;
    while (isSpace(text.charAt(end))) {
      end += 1;
    }
    return end;
  };
  for (let start = from; start < text.length; start += 1) {
    const sign = skip(start);
    const size = operatorAt(text, sign);
    if (size > 0) {
      const written = text.slice(sign, sign + size);
      return { start, end: skip(sign + size), divides: written === "/" || written === "per" };
    }
    if (sign > start) {
      return { start, end: sign, divides: false };
    }
  }
  return undefined;
}

function operatorAt(text: string, at: number): number {
  const character = text.charAt(at);
  if (character === "/" || character === "·" || character === "⋅" || character === "×") {
    return 1;
  }
  if (character === "*") {
    return text.charAt(at + 1) === "*" ? 0 : 1;
  }
  const isPer = text.startsWith("per", at) && !isWord(characterBefore(text, at)) && !isWord(characterAt(text, at + 3));
  return isPer ? 3 : 0;
}

function characterBefore(text: string, at: number): string {
  return [...text.slice(Math.max(at - 2, 0), at)].pop() ?? "";
}

function characterAt(text: string, at: number): string {
  return [...text.slice(at, at + 2)][0] ?? "";
}

/** Whether a character is one of words, as \w has it in Python. */
export function isWord(character: string): boolean {
  return character === "_" || isAlphanumeric(character);
}

/** One factor: a name, and its exponent if it has one. A name may itself end in digits (mmH2O). */
function factorsOf(given: string): readonly (readonly [Named, number])[] | undefined {
  const alias = aliasOf(given);
  if (alias === "") {
    return undefined; // a unit with several meanings
  }
  const piece = alias ?? given;
  if (piece === "dimensionless") {
    return [];
  }
  const plain = lookUp(piece);
  if (plain !== undefined) {
    return [[plain, 1]];
  }
  const [, base = "", power = ""] = /^([^ \u2003/*·⋅×^0-9+-]+)(?:\^|\*\*)?([+-]?[0-9]{1,3})$/.exec(piece) ?? [];
  const named = base === "" ? undefined : lookUp(aliasOf(base) ?? base);
  const exponent = Number(power);
  return named === undefined || exponent === 0 || Math.abs(exponent) > HIGHEST_POWER ? undefined : [[named, exponent]];
}

function aliasOf(name: string): string | undefined {
  return ALIASES.find(([spelling]) => spelling === name)?.[1];
}

function lookUp(name: string): Named | undefined {
  const characters = [...name];
  const isPlain =
    characters.length > 0 &&
    characters.every(isWord) &&
    !isDigit(characters[0] as string);
  if (!isPlain && !/^(?:[%‰]|Δ?°[A-Za-z]+)$/.test(name)) {
    return undefined;
  }
  const found = candidates(name);
  const [prefix, unit] = found.find(([each]) => each === "") ?? found[0] ?? [];
  if (prefix === undefined || unit === undefined) {
    return undefined;
  }
  const known = tables().get(`${prefix}${unit.name}`);
  if (known !== undefined) {
    return known;
  }
  const [first, base] = candidates(`${prefix}${unit.name}`)[0] ?? [];
  if (first === undefined || base === undefined || first === "") {
    return base;
  }
  return base.kind === "" ? { ...base, name: `${first}${base.name}` } : undefined;
}

/** Prefix and unit in all ways in which a name can be read, in Pint's order: as it is, then without its "s". */
function candidates(name: string): readonly (readonly [string, Named])[] {
  const units = tables();
  const found: (readonly [string, Named])[] = [];
  for (const suffix of ["", "s"]) {
    for (const [spelling, prefix] of PREFIXES) {
      if (!name.startsWith(spelling) || !name.endsWith(suffix)) {
        continue;
      }
      const rest = name.slice(spelling.length, name.length - suffix.length);
      if (suffix !== "" && [...rest].length === 1) {
        continue;
      }
      const unit = units.get(rest);
      if (unit !== undefined) {
        found.push([prefix, unit]);
      }
    }
  }
  return found;
}

function dimensionOf(unit: Unit): string {
  return DIMENSIONS.map((_, at) =>
    unit.factors.reduce((sum, [named, power]) => sum + power * (named.dimension[at] as number), 0),
  ).join(" ");
}

/** Whether two units measure the same kind of quantity. */
export function sameDimension(one: Unit, other: Unit): boolean {
  return dimensionOf(one) === dimensionOf(other);
}
