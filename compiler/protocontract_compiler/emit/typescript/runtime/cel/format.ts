// CEL's format() and the texts of doubles.
import { compareText } from "../codepoints.js";
import { exponential, fixed, general } from "./decimal.js";
import { fail } from "./logic.js";
import { bytesOf } from "./text.js";
import { displayTimestamp, stringOfDuration } from "./time.js";

/** `string(double)`: seventeen significant digits. */
export function stringOfDouble(value: number): string {
  // The sign of a NaN cannot be seen in JavaScript; that of a computed one differs between machines as well.
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return general(value, 17);
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? "Infinity" : "-Infinity";
}

function number(value: number | string): number {
  if (typeof value === "string" && !["NaN", "Infinity", "-Infinity"].includes(value)) {
    return fail("only NaN and the infinities are supported for conversion to double");
  }
  return Number(value);
}

/** `%f`. */
export function formatF(value: number | string, precision: bigint): string {
  const found = number(value);
  return special(found) ?? fixed(found, Number(precision));
}

/** `%e`. */
export function formatE(value: number | string, precision: bigint): string {
  const found = number(value);
  return special(found) ?? exponential(found, Number(precision));
}

/** `%b` of an integer or a bool. */
export const formatBinary = (value: bigint | boolean): string => BigInt(value).toString(2);

/** `%o`. */
export const formatOctal = (value: bigint): string => value.toString(8);

/** `%x`. */
export function formatHex(value: bigint | string | Uint8Array): string {
  if (typeof value === "bigint") return value.toString(16);
  return Array.from(typeof value === "string" ? bytesOf(value) : value, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** `%X`. */
export const formatHexUpper = (value: bigint | string | Uint8Array): string => formatHex(value).toUpperCase();

/** `%s` of a value of the type that `type` writes: `double`, `list(string)`, `map(int, bool)`. */
export function formatValue(value: unknown, type: string): string {
  const inner = type.slice(type.indexOf("(") + 1, -1);
  switch (type.split("(", 1)[0]) {
    case "double":
      return special(value as number) ?? general(value as number, 6);
    case "bytes":
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(value as Uint8Array);
    case "timestamp":
      return displayTimestamp(value as bigint);
    case "duration":
      return stringOfDuration(value as bigint);
    case "null":
      return "null";
    case "list":
      return `[${(value as readonly unknown[]).map((item) => formatValue(item, inner)).join(", ")}]`;
    case "map": {
      const comma = inner.indexOf(", ");
      const [keys, values] = [inner.slice(0, comma), inner.slice(comma + 2)];
      const shown = [...(value as ReadonlyMap<unknown, unknown>)].map(([key, item]) => [formatValue(key, keys), item] as const);
      shown.sort(([left], [right]) => compareText(left, right));
      return `{${shown.map(([key, item]) => `${key}: ${formatValue(item, values)}`).join(", ")}}`;
    }
    default: // bool, string, int, uint, and the name of a type
      return String(value);
  }
}
