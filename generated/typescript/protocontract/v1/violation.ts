// Written by protoc-gen-contract 0.1.0. Do not edit.
// What breaks a contract, as data: places, rules, violations, changes. A value never stands in a message.
import { describe, type Refusal } from "./refusal.js";
import { sha256 } from "./sha256.js";

/** One step of a field path, as the .proto names it. Whatever is in a sensitive field is never shown. */
export interface Field {
  readonly name: string;
  readonly map?: true;
  readonly sensitive?: true;
}

/** An index, or the key of a map as JavaScript holds it. */
export type Subscript = number | bigint | boolean | string;

/** Where a message stands in the record: the way to it, from the inside out. The outermost has the contract's name. */
export interface At {
  readonly contract: string;
  readonly outer?: At;
  readonly field?: Field;
  readonly subscript?: Subscript | undefined;
}

export type Severity = "ERROR" | "WARNING";

/** Where a violation comes from and what ends it. */
export interface ErrorClass {
  readonly source: "INPUT" | "MODEL" | "INFRASTRUCTURE" | "DATA";
  readonly remedy: "IMMEDIATE" | "CONFIGURATION" | "CODE" | "RETRAINING";
}

/** A rule of one field: what is known about its violations when code is generated. */
export interface Rule {
  readonly id: string;
  readonly message: string;
  /** The field whose value breaks it; without one, the message does. */
  readonly field?: Field;
  readonly forKey?: true;
  /** The CEL text of a rule without an id. */
  readonly text?: string;
  readonly severity?: Severity;
  readonly errorClass?: ErrorClass;
  readonly code?: number;
  readonly sensitive?: boolean;
  readonly contexts?: readonly string[];
  /** Siblings that the rule reads: where one of them was refused, the rule does not count. */
  readonly needs?: readonly string[];
  /** Siblings that the rule's normalizer would have written: where it refuses, their rules do not count. */
  readonly spoils?: readonly string[];
  /** Whether a violation tells what it got: rules of buf.validate do. In Python a wrapper is a message. */
  readonly describes?: "value" | "message";
}

/** A rule that a record broke, and where. */
export interface Violation {
  readonly contract: string;
  /** The field path: `entities[2].label`, `prices["EUR"].amount`; empty for a rule of the record itself. */
  readonly path: string;
  /** The path with `[*]` for keys of maps, which are data: for logs. */
  readonly redactedPath: string;
  readonly ruleId: string;
  /** The 32-bit error code, the same in every language and release. */
  readonly code: number;
  /** What was expected, in prose. Never the offending value. */
  readonly message: string;
  readonly severity: Severity;
  readonly errorClass: ErrorClass;
  readonly forKey: boolean;
  readonly sensitive: boolean;
  /** The kind and size of what was there, where the rule tells it: "a 3-character text". Never the value. */
  readonly got?: string;
  /** The offending value; absent where the field is sensitive. */
  readonly value?: unknown;
  readonly rule: Rule;
}

/** One value that a normalizer replaced. `before` and `after` are absent where the field is sensitive. */
export interface Change {
  readonly path: string;
  readonly ruleId: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What generated functions collect. */
export interface Run {
  readonly violations: Violation[];
  readonly changes: Change[];
  /** CEL's `now`: nanoseconds since the epoch. */
  readonly now: () => bigint;
  /** The context that rules are limited to; undefined: every rule counts. */
  readonly context: string | undefined;
}

/** The place of a message that the message at `at` holds in a field. */
export function below(at: At, field: Field, subscript?: Subscript): At {
  return { contract: at.contract, outer: at, field, subscript };
}

interface Step {
  readonly field: Field;
  readonly subscript: Subscript | undefined;
}

function steps(at: At, field: Field | undefined, subscript: Subscript | undefined): Step[] {
  const found: Step[] = field === undefined ? [] : [{ field, subscript }];
  for (let place: At | undefined = at; place?.field !== undefined; place = place.outer) {
    found.push({ field: place.field, subscript: place.subscript });
  }
  return found.reverse();
}

function subscriptText(subscript: Subscript): string {
  if (typeof subscript !== "string") return String(subscript);
  return `"${subscript.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function pathText(path: readonly Step[], redacted: boolean): string {
  return path
    .map(({ field, subscript }) => {
      if (subscript === undefined) return field.name;
      return redacted && field.map ? `${field.name}[*]` : `${field.name}[${subscriptText(subscript)}]`;
    })
    .join(".");
}

function codePath(path: readonly Step[], forKey: boolean): string {
  const parts: string[] = [];
  path.forEach(({ field, subscript }, place) => {
    parts.push(field.name);
    if (field.map && subscript !== undefined) parts.push(forKey && place === path.length - 1 ? "key" : "value");
  });
  return parts.join(".");
}

/** The 32-bit code of a rule: the first four bytes of SHA-256 of `<contract>.<field path>:<rule id>`. */
export function errorCode(contract: string, fieldPath: string, ruleId: string): number {
  return sha256(`${fieldPath === "" ? contract : `${contract}.${fieldPath}`}:${ruleId}`)[0]!;
}

const INPUT_IMMEDIATE: ErrorClass = { source: "INPUT", remedy: "IMMEDIATE" };

function violation(at: At, rule: Rule, value: unknown, subscript: Subscript | undefined, text: string): Violation {
  const path = steps(at, rule.field, subscript);
  const sensitive = rule.sensitive === true || path.some((step) => step.field.sensitive);
  const forKey = rule.forKey === true;
  const found = {
    contract: at.contract,
    path: pathText(path, false),
    redactedPath: pathText(path, true),
    ruleId: rule.id,
    code: rule.code ?? errorCode(at.contract, codePath(path, forKey), rule.id || (rule.text ?? "")),
    message: text,
    severity: rule.severity ?? "ERROR",
    errorClass: rule.errorClass ?? INPUT_IMMEDIATE,
    forKey,
    sensitive,
    rule,
    ...(rule.describes === undefined || value === undefined ? {} : { got: described(rule, value, subscript) }),
  };
  return sensitive || value === undefined ? found : { ...found, value };
}

function described(rule: Rule, value: unknown, subscript: Subscript | undefined): string {
  if (rule.describes === "message") return "a message";
  // A map is an object as messages are; its entries have a subscript.
  if (rule.field?.map && subscript === undefined) return `a map of ${Object.keys(value as object).length}`;
  return describe(value);
}

/** Whether a rule counts in the context of a run. */
export function counts(run: Run, rule: Rule): boolean {
  return run.context === undefined || rule.contexts === undefined || rule.contexts.includes(run.context);
}

/** Notes a violation. `text` is what the rule's expression returned. */
export function add(run: Run, at: At, rule: Rule, value?: unknown, subscript?: Subscript, text?: string): void {
  if (!counts(run, rule)) return;
  let message = rule.message;
  if (text !== undefined) {
    // An expression can put what it reads into the text that it returns.
    const hidden = rule.sensitive === true || steps(at, rule.field, subscript).some((step) => step.field.sensitive);
    message = hidden ? rule.id || (rule.text ?? "") : text;
  }
  run.violations.push(violation(at, rule, value, subscript, message));
}

/** A field with a normalizer or relation: what its violations and changes have in common. */
export interface Site {
  readonly field: Field;
  /** The word of the vocabulary: `money`, `spans`. It is the rule id of a change. */
  readonly word: string;
  readonly severities?: Readonly<Record<string, Severity>>;
  readonly errorClass?: ErrorClass;
  readonly errorCodes?: Readonly<Record<string, number>>;
  readonly contexts?: Readonly<Record<string, readonly string[]>>;
  readonly sensitive?: boolean;
  readonly needs?: readonly string[];
  readonly spoils?: readonly string[];
}

// Who can mend a broken relation or normalizer where the contract does not say: by the word.
const DEFAULT_CLASSES: Readonly<Record<string, ErrorClass>> = {
  tensor: { source: "MODEL", remedy: "CODE" },
  sequence: { source: "DATA", remedy: "CODE" },
  graph: { source: "DATA", remedy: "CODE" },
  spans: { source: "DATA", remedy: "IMMEDIATE" },
};

function ruleOf(site: Site, ruleId: string, severity: Severity | undefined): Rule {
  const code = site.errorCodes?.[ruleId];
  const contexts = site.contexts?.[ruleId];
  return {
    id: ruleId,
    message: "",
    field: site.field,
    severity: site.severities?.[ruleId] ?? severity ?? "ERROR",
    errorClass: site.errorClass ?? DEFAULT_CLASSES[ruleId.split(".", 1)[0]!] ?? INPUT_IMMEDIATE,
    sensitive: site.sensitive === true,
    needs: site.needs ?? [],
    spoils: site.spoils ?? [],
    ...(code === undefined ? {} : { code }),
    ...(contexts === undefined ? {} : { contexts }),
  };
}

/** Notes the violation that a refusal of a normalizer or relation means at this place. */
export function refuse(
  run: Run, site: Site, refusal: Refusal, value: unknown, at: At, subscript?: Subscript, severity?: Severity,
): void {
  const rule = ruleOf(site, refusal.ruleId, severity);
  if (counts(run, rule)) run.violations.push(violation(at, rule, value, subscript, refusal.message));
}

/** Notes the violations of a relation. A refusal with an index is one of that element of the field. */
export function refuseAll(
  run: Run, site: Site, refusals: readonly Refusal[] | undefined, values: ArrayLike<unknown> | undefined, at: At,
): void {
  for (const refusal of refusals ?? []) {
    const value = refusal.index === undefined ? undefined : values?.[refusal.index];
    refuse(run, site, refusal, value, at, refusal.index);
  }
}

/** Notes that a normalizer replaced a value. */
export function change(run: Run, site: Site, before: unknown, after: unknown, at: At, subscript?: Subscript): void {
  changeBelow(run, site, "", before, after, at, subscript);
}

/** A change at the path `tail` below a site. Where it is sensitive, so are the keys of maps. */
export function changeBelow(
  run: Run, site: Site, tail: string, before: unknown, after: unknown, at: At, subscript?: Subscript,
): void {
  const path = steps(at, site.field, subscript);
  const hidden = site.sensitive === true || path.some((step) => step.field.sensitive);
  const told = { path: pathText(path, hidden) + tail, ruleId: site.word };
  run.changes.push(hidden ? told : { ...told, before, after });
}

/** A violation as one line, without the value: for logs and the console. */
export function explain(found: Violation): string {
  const where = `${found.contract} ${found.redactedPath}`.trimEnd();
  const got = found.got === undefined ? "" : `, got ${found.got}`;
  const id = found.ruleId || (found.rule.text ?? "");
  const code = `0x${found.code.toString(16).padStart(8, "0")}`;
  return `${where}: ${found.message || found.ruleId}${got} (${id}, ${code})`;
}
