// The canonical form of docs/evidence.md in TypeScript, written from that page: values, messages and steps.
// It runs on standard input: a table of JSON in, one digest a line out. An int is a bigint, a float a number.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export type Value = null | boolean | bigint | number | string | Uint8Array | Value[] | Map<string, Value>;

const NAN = "7ff8000000000000";
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

function bits(value: number): string {
  if (Number.isNaN(value)) return NAN;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return hex(new Uint8Array(view.buffer));
}

export function canonical(value: Value): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean": return value ? "true" : "false";
    case "bigint": return `"i:${value}"`;
    case "number": return `"f:${bits(value)}"`;
    case "string": return JSON.stringify(`s:${value}`);
  }
  if (value instanceof Uint8Array) return `"b:${hex(value)}"`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  // The order of Array.sort is that of UTF-16 code units.
  const entries = [...value.keys()].sort().map((key) => `${JSON.stringify(key)}:${canonical(value.get(key)!)}`);
  return `{${entries.join(",")}}`;
}

export const digest = (value: Value): string => sha256(`protocontract value 1\n${canonical(value)}`);
export const stepHash = (step: Value): string => sha256(`protocontract evidence step 1\n${canonical(step)}`);

// ---------------------------------------------------------------------------------------------------------------------
// Messages, by protobuf-es's reflection

const require = createRequire(join(process.argv[2]!, "package.json"));
const { createFileRegistry, fromBinary, ScalarType } = require("@bufbuild/protobuf");
const { reflect } = require("@bufbuild/protobuf/reflect");
const { FileDescriptorSetSchema } = require("@bufbuild/protobuf/wkt");

const isFloat = (scalar: number): boolean => scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT;

function scalarValue(scalar: number, value: any): Value {
  return typeof value === "number" && !isFloat(scalar) ? BigInt(value) : value;
}

function item(field: any, kind: string, value: any): Value {
  if (kind === "message") return fields(value);
  if (kind === "enum") return BigInt(value);
  return scalarValue(field.scalar, value);
}

function fields(message: any): Map<string, Value> {
  const found = new Map<string, Value>();
  for (const field of message.desc.fields) {
    if (!message.isSet(field)) continue;
    const value = message.get(field);
    if (field.fieldKind === "list") {
      found.set(field.name, [...value].map((each) => item(field, field.listKind, each)));
    } else if (field.fieldKind === "map") {
      found.set(field.name, new Map([...value.entries()].map(([key, each]: [any, any]) => [`${key}`, item(field, field.mapKind, each)])));
    } else {
      found.set(field.name, item(field, field.fieldKind, value));
    }
  }
  return found;
}

export function messageDigest(message: any): string {
  const held = new Map<string, Value>([["type", message.desc.typeName], ["fields", fields(message)]]);
  return sha256(`protocontract message 1\n${canonical(held)}`);
}

// ---------------------------------------------------------------------------------------------------------------------
// The table

function read(told: any): Value {
  const [kind, held] = told;
  switch (kind) {
    case "null": return null;
    case "bool": return held;
    case "int": return BigInt(held);
    case "float": return Buffer.from(held, "base64").readDoubleLE();
    case "text": return held;
    case "bytes": return new Uint8Array(Buffer.from(held, "base64"));
    case "list": return held.map(read);
    default: return new Map(held.map(([key, value]: [string, any]) => [key, read(value)]));
  }
}

const table = JSON.parse(readFileSync(0, "utf8"));
for (const value of table.values ?? []) console.log(digest(read(value)));
for (const step of table.steps ?? []) console.log(stepHash(read(step)));
if (table.messages) {
  const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, Buffer.from(table.files, "base64")));
  const type = files.getMessage(table.type);
  for (const message of table.messages) console.log(messageDigest(reflect(type, fromBinary(type, Buffer.from(message, "base64")))));
}
