// Written by protoc-gen-contract 0.1.0. Do not edit.
// CEL's values and containers. A list is an array, a map a Map with its keys in order, null is undefined.
import { sortedKeys } from "../codepoints.js";
import { fail } from "./logic.js";

/** A wrapper's value where an operation does not take null. */
export function unwrap<T>(value: T | undefined): T {
  return value === undefined ? fail("no matching overload for null") : value;
}

/** An integer as a bigint, null as null. */
export function big(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}

/** A float in single precision, null as null. */
export function single(value: number): number;
export function single(value: number | undefined): number | undefined;
export function single(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.fround(value);
}

interface Oneof {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** The value of a member of a oneof, or `otherwise` where another one is set. */
export function memberOf<O extends Oneof, C extends string, D>(
  oneof: O, name: C, otherwise: D,
): Extract<O, { case: C }>["value"] | D {
  return oneof.case === name ? (oneof.value as Extract<O, { case: C }>["value"]) : otherwise;
}

type Stored<V> = { readonly [key: string]: V };

/** A map with text keys. */
export function stringMap<V, W>(stored: Stored<V>, convert: (value: V) => W): Map<string, W> {
  return new Map(sortedKeys(stored, "string").map((key) => [key, convert(stored[key]!)]));
}

/** A map with integer keys. */
export function intMap<V, W>(stored: Stored<V>, convert: (value: V) => W): Map<bigint, W> {
  return new Map(sortedKeys(stored, "number").map((key) => [BigInt(key), convert(stored[key]!)]));
}

/** A map with bool keys. */
export function boolMap<V, W>(stored: Stored<V>, convert: (value: V) => W): Map<boolean, W> {
  return new Map(sortedKeys(stored, "bool").map((key) => [key === "true", convert(stored[key]!)]));
}

/** A map display; equal keys are an error. */
export function mapDisplay<K, V>(...entries: readonly (readonly [K, V])[]): Map<K, V> {
  const made = new Map(entries);
  return made.size === entries.length ? made : fail("duplicate key in map");
}

/** `items[index]`. */
export function indexList<T>(items: readonly T[], index: bigint): T {
  return 0n <= index && index < BigInt(items.length) ? items[Number(index)]! : fail("index out of range");
}

/** `items[key]`. */
export function indexMap<K, V>(items: ReadonlyMap<K, V>, key: K): V {
  return items.has(key) ? items.get(key)! : fail("key not found in map");
}

/** Equality of any two values of one type: NaN equals nothing, 0.0 equals -0.0. */
export function equal(left: unknown, right: unknown): boolean {
  if (left instanceof Map && right instanceof Map) {
    return left.size === right.size && [...left].every(([key, value]) => right.has(key) && equal(value, right.get(key)));
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, i) => equal(item, right[i]));
  }
  if (isBytes(left) && isBytes(right)) return compareBytes(left, right) === 0;
  return left === right;
}

const isBytes = (value: unknown): value is Uint8Array => Object.prototype.toString.call(value) === "[object Uint8Array]";

/** Membership in a list. */
export function contains(items: readonly unknown[], item: unknown): boolean {
  return items.some((member) => equal(member, item));
}

/** `unique()` of scalars. */
export function unique(items: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  return items.every((item) => {
    if (typeof item === "number" && Number.isNaN(item)) return true;
    const key = isBytes(item) ? item.join(",") : item;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** The order of bytes. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const common = Math.min(left.length, right.length);
  for (let i = 0; i < common; i++) {
    if (left[i] !== right[i]) return left[i]! - right[i]!;
  }
  return left.length - right.length;
}

export function concatBytes(left: Uint8Array, right: Uint8Array): Uint8Array {
  const made = new Uint8Array(left.length + right.length);
  made.set(left);
  made.set(right, left.length);
  return made;
}

export function startsWithBytes(value: Uint8Array, part: Uint8Array): boolean {
  return compareBytes(value.subarray(0, part.length), part) === 0;
}

export function endsWithBytes(value: Uint8Array, part: Uint8Array): boolean {
  return value.length >= part.length && compareBytes(value.subarray(value.length - part.length), part) === 0;
}

export function containsBytes(value: Uint8Array, part: Uint8Array): boolean {
  for (let i = 0; i + part.length <= value.length; i++) {
    if (compareBytes(value.subarray(i, i + part.length), part) === 0) return true;
  }
  return false;
}
