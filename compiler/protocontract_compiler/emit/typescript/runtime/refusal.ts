// A normalizer's or relation's "no", and how a value is described without being shown.

import { size } from "./codepoints.js";

/** Why a value is refused. `index` is the place of the element at fault, where the value has several. */
export interface Refusal {
  readonly refused: true;
  readonly ruleId: string;
  readonly message: string;
  readonly index?: number;
}

/** A refusal. `message` never holds the value. */
export function refusal(ruleId: string, message: string, index?: number): Refusal {
  return index === undefined ? { refused: true, ruleId, message } : { refused: true, ruleId, message, index };
}

/** Whether a normalizer's result is a refusal. */
export function isRefusal(result: unknown): result is Refusal {
  return typeof result === "object" && result !== null && (result as { refused?: unknown }).refused === true;
}

/** The kind and size of a value, never the value: "a 5-character text", "a list of 3". */
export function describe(value: unknown): string {
  if (value === undefined || value === null) {
    return "nothing";
  }
  switch (typeof value) {
    case "boolean":
      return "a bool";
    case "string":
      return `${numbered(size(value))}-character text`;
    case "number":
    case "bigint":
      return "a number";
    default:
      if (value instanceof Uint8Array) {
        return `${numbered(value.length)}-byte value`;
      }
      return Array.isArray(value) ? `a list of ${value.length}` : "a message";
  }
}

/** A count with the article that it has when it is spoken: `a 5`, `an 8`, `an 11`, `an 8000`. */
function numbered(count: number): string {
  const digits = String(count);
  // The first word is said of the leading group of thousands.
  const first = digits.slice(0, ((digits.length - 1) % 3) + 1);
  return `${first.startsWith("8") || first === "11" || first === "18" ? "an" : "a"} ${digits}`;
}
