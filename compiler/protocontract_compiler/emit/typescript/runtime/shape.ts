// Whether an object holds what its message's fields can hold: a form's draft has been through no parser.
import { isWellFormed } from "./codepoints.js";
import { add, below, errorCode, type At, type Field, type Run, type Subscript } from "./violation.js";

type Scalar =
  | "double" | "float" | "int32" | "uint32" | "int64" | "uint64" | "bool" | "string" | "bytes" | "enum" | "json";

/** A field: its name in the .proto, the property that holds it, and what it holds. */
export interface Member {
  readonly name: string;
  /** Where it differs from the name. */
  readonly property?: string;
  readonly kind: Scalar | (() => Shape);
  readonly list?: true;
  /** Of a map: the kind of its keys. */
  readonly key?: Scalar;
  /** The property of the oneof that it is a member of. */
  readonly oneof?: string;
  /** Whether it may be absent. */
  readonly optional?: true;
  /** Whether the wire has it always: `required` of proto2. */
  readonly required?: true;
  readonly sensitive?: true;
}

export type Shape = readonly Member[];

type Held = Readonly<Record<string, unknown>>;

const RANGES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  enum: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

function inRange(kind: string, value: bigint): boolean {
  const [least, most] = RANGES[kind]!;
  return least <= value && value <= most;
}

function isScalar(kind: Scalar, value: unknown): boolean {
  switch (kind) {
    case "bool":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string" && isWellFormed(value);
    case "bytes":
      return Object.prototype.toString.call(value) === "[object Uint8Array]";
    case "double":
      return typeof value === "number";
    case "float":
      return typeof value === "number" && (!Number.isFinite(value) || Number.isFinite(Math.fround(value)));
    case "int64":
    case "uint64":
      return typeof value === "bigint" && inRange(kind, value);
    case "json":
      return typeof value === "object" && value !== null;
    default:
      return typeof value === "number" && Number.isInteger(value) && inRange(kind, BigInt(value));
  }
}

/** Whether a property of an object is the text of a key, as protobuf-es writes it. */
function isKey(kind: Scalar, key: string): boolean {
  if (kind === "string") return isWellFormed(key);
  if (kind === "bool") return key === "true" || key === "false";
  return /^(?:0|-?[1-9][0-9]{0,19})$/.test(key) && inRange(kind, BigInt(key));
}

const isObject = (value: unknown): value is Held => typeof value === "object" && value !== null;

const TOLD: Readonly<Record<Scalar, string>> = {
  double: "a number",
  float: "a number of single precision",
  int32: "an integer of 32 bits",
  uint32: "a natural number of 32 bits",
  int64: "a bigint of 64 bits",
  uint64: "a bigint of 64 bits, not negative",
  bool: "a boolean",
  string: "a text without halves of surrogate pairs",
  bytes: "a Uint8Array",
  enum: "the number of an enum's value",
  json: "an object of JSON",
};

function expected(field: Field, at: At, run: Run, what: string, subscript?: Subscript): boolean {
  const code = errorCode(at.contract, "", "wire.malformed");
  const message = `a value that the field cannot hold; expected ${what}`;
  const errorClass = { source: "INPUT", remedy: "CODE" } as const;
  add(run, at, { id: "wire.malformed", message, field, code, errorClass }, undefined, subscript);
  return false;
}

/** Levels that a message may have, as for parsers of protobuf: a draft may even hold itself. */
const MOST_LEVELS = 100;

function isValue(
  member: Member, field: Field, value: unknown, at: At, run: Run, level: number, subscript?: Subscript,
): boolean {
  if (typeof member.kind === "function") {
    if (!isObject(value)) return expected(field, at, run, "a message", subscript);
    if (level >= MOST_LEVELS) return expected(field, at, run, `at most ${MOST_LEVELS} levels of messages`, subscript);
    return isShaped(value, member.kind(), below(at, field, subscript), run, level + 1);
  }
  return isScalar(member.kind, value) || expected(field, at, run, TOLD[member.kind], subscript);
}

/** Whether an object holds what the fields of its message can hold. Where it does not, that is noted, once. */
export function isShaped(message: unknown, shape: Shape, at: At, run: Run, level = 1): boolean {
  if (!isObject(message)) {
    add(run, at, { id: "wire.malformed", message: "no message; expected an object", errorClass: { source: "INPUT", remedy: "CODE" } });
    return false;
  }
  return shape.every((member) => {
    const field: Field = {
      name: member.name,
      ...(member.key === undefined ? {} : { map: true as const }),
      ...(member.sensitive ? { sensitive: true as const } : {}),
    };
    const property = member.property ?? member.name;
    if (member.oneof !== undefined) {
      const oneof = message[member.oneof];
      if (!isObject(oneof)) return expected(field, at, run, "a oneof");
      const chosen = oneof["case"];
      if (chosen === property) return isValue(member, field, oneof["value"], at, run, level);
      const known = shape.some((other) => other.oneof === member.oneof && (other.property ?? other.name) === chosen);
      return chosen === undefined || known || expected(field, at, run, "a case of its oneof");
    }
    const value = message[property];
    if (member.list) {
      if (!Array.isArray(value)) return expected(field, at, run, "a list");
      return value.every((item, i) => isValue(member, field, item, at, run, level, i));
    }
    if (member.key !== undefined) {
      if (!isObject(value)) return expected(field, at, run, "a map");
      const key = member.key;
      return Object.keys(value).every((name) => {
        if (!isKey(key, name)) return expected(field, at, run, `each key to be the text of ${TOLD[key]}`);
        const subscript = key === "string" ? name : key === "bool" ? name === "true" : BigInt(name);
        return isValue(member, field, value[name], at, run, level, subscript);
      });
    }
    if (member.required && !Object.hasOwn(message, property)) return expected(field, at, run, "it, as it is required");
    return (member.optional && value === undefined) || isValue(member, field, value, at, run, level);
  });
}

/** Whether nothing is set in a message, not even a field that nobody knows. */
export function isEmpty(message: object, shape: Shape): boolean {
  const held = message as Held;
  const unknown = held["$unknown"];
  if (Array.isArray(unknown) && unknown.length > 0) return false;
  return shape.every((member) => {
    const property = member.property ?? member.name;
    if (member.oneof !== undefined) return (held[member.oneof] as Held)["case"] !== property;
    const value = held[property];
    if (member.list) return (value as readonly unknown[]).length === 0;
    if (member.key !== undefined) return Object.keys(value as object).length === 0;
    if (member.optional) return !Object.hasOwn(held, property) || value === undefined;
    return isZero(value);
  });
}

/** Whether a value is its type's zero: -0.0 is none, as its bits are not all zero. */
function isZero(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return (value as Uint8Array).length === 0;
  return Object.is(value, 0) || value === 0n || value === "" || value === false;
}

/** A copy that shares nothing with its original: lists, maps, bytes and messages are plain data. */
export function copy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy) as T;
  if (Object.prototype.toString.call(value) === "[object Uint8Array]") return new Uint8Array(value as unknown as Uint8Array) as T;
  // In proto2 and editions the prototype has the defaults of fields that are not set.
  const made = Object.create(Object.getPrototypeOf(value) as object | null) as Record<string, unknown>;
  for (const [name, held] of Object.entries(value)) made[name] = copy(held);
  return made as T;
}
