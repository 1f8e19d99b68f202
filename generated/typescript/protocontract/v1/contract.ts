// Written by protoc-gen-contract 0.1.0. Do not edit.
// What a generated module offers for each message: validate, normalise, both.
import { RuleEvaluationError } from "./cel/logic.js";
import { copy, isShaped, type Shape } from "./shape.js";
import { add, explain, type At, type Change, type Run, type Violation } from "./violation.js";

/** What narrows or fixes a validation. */
export interface Options {
  /** Rules that the contract limits to other contexts do not count. Without one, every rule does. */
  readonly context?: string;
  /** The moment that rules take for the present, in nanoseconds since the epoch. */
  readonly now?: bigint;
}

/** What became of one record. */
export interface Outcome<T> {
  /** The normalised, valid message; undefined unless `ok`. */
  readonly message: T | undefined;
  readonly ok: boolean;
  /** All violations, in order: refusals, buf.validate's, relations. An `ok` outcome may hold warnings. */
  readonly violations: readonly Violation[];
  /** What normalizers replaced, in order. */
  readonly changes: readonly Change[];
  /** The message as far as it was normalised, also where it breaks the contract. For display. */
  readonly decoded: T | undefined;
}

/** A message type with its rules. */
export interface Contract<T> {
  readonly fullName: string;
  /** SHA-256 (hex) of the canonical text of the contract and all that it reaches, as in Python. */
  readonly fingerprint: string;
  readonly version: string;
  /** All violations of a message as it stands. Throws RuleEvaluationError where a CEL rule has no result on it. */
  validate(message: T, options?: Options): readonly Violation[];
  /** Whether a message keeps the contract as it stands. Throws as `validate` does. */
  isValid(message: T, options?: Options): boolean;
  /** A normalised copy. Throws ContractViolation where a value is refused. */
  normalize(message: T): T;
  /** Normalises a copy and validates it. Never throws for bad data. */
  process(message: T, options?: Options): Outcome<T>;
  /** The normalised and valid message. Throws ContractViolation with all violations. */
  assertValid(message: T, options?: Options): T;
}

/** A record broke its contract. */
export class ContractViolation extends Error {
  constructor(readonly violations: readonly Violation[]) {
    const count = violations.length;
    const head = count === 1 ? "1 violation of the contract" : `${count} violations of the contract`;
    super([head, ...violations.map((found) => `  ${explain(found)}`)].join("\n"));
    this.name = "ContractViolation";
  }
}

type Step<T> = (message: T, at: At, run: Run) => void;

/** What generated code knows of a contract. */
export interface Parts<T> {
  readonly fullName: string;
  readonly fingerprint: string;
  readonly version?: string;
  readonly shape: Shape;
  readonly contexts?: readonly string[];
  readonly normalize?: Step<T>;
  readonly validate?: Step<T>;
  readonly relate?: Step<T>;
}

const rejects = (found: readonly Violation[]): boolean => found.some((violation) => violation.severity === "ERROR");

function begin(parts: { readonly fullName: string; readonly contexts?: readonly string[] }, options: Options): Run {
  const { context, now } = options;
  if (context !== undefined && !(parts.contexts ?? []).includes(context)) {
    const known = parts.contexts?.join(", ") ?? "none, as no rule names any";
    throw new RangeError(`"${context}" is no context of ${parts.fullName}; expected ${known}`);
  }
  return { violations: [], changes: [], context, now: () => now ?? BigInt(Date.now()) * 1_000_000n };
}

/** The contract of a message type. */
export function contract<T>(parts: Parts<T>): Contract<T> {
  const root: At = { contract: parts.fullName };

  function judge(message: T, run: Run): void {
    parts.validate?.(message, root, run);
    parts.relate?.(message, root, run);
  }

  function validate(message: T, options: Options = {}): readonly Violation[] {
    const run = begin(parts, options);
    if (isShaped(message, parts.shape, root, run)) judge(message, run);
    return run.violations;
  }

  function process(message: T, options: Options = {}): Outcome<T> {
    const run = begin(parts, options);
    if (!isShaped(message, parts.shape, root, run)) {
      return { message: undefined, ok: false, violations: run.violations, changes: [], decoded: undefined };
    }
    const kept = copy(message);
    const found: Run = { ...run, violations: [] };
    try {
      parts.normalize?.(kept, root, run);
      judge(kept, found);
    } catch (error) {
      if (!(error instanceof RuleEvaluationError)) throw error;
      const failed: Run = { ...run, violations: [], context: undefined };
      add(failed, root, { id: "rule.evaluation", message: `a rule has no result on this message: ${error.message}` });
      return { message: undefined, ok: false, violations: failed.violations, changes: [], decoded: kept };
    }
    const violations = [...run.violations, ...outside(found.violations, run.violations)];
    const ok = !rejects(violations);
    return { message: ok ? kept : undefined, ok, violations, changes: run.changes, decoded: kept };
  }

  function normalize(message: T): T {
    const run = begin(parts, {});
    const kept = copy(message);
    if (isShaped(message, parts.shape, root, run)) parts.normalize?.(kept, root, run);
    if (rejects(run.violations)) throw new ContractViolation(run.violations);
    return kept;
  }

  function assertValid(message: T, options: Options = {}): T {
    const outcome = process(message, options);
    if (outcome.message === undefined) throw new ContractViolation(outcome.violations);
    return outcome.message;
  }

  return {
    fullName: parts.fullName,
    fingerprint: parts.fingerprint,
    version: parts.version ?? "",
    validate,
    isValid: (message, options) => !rejects(validate(message, options)),
    normalize,
    process,
    assertValid,
  };
}

/** The path of the message that holds the field, with its final full stop; empty for the record itself. */
const parent = (path: string): string => path.slice(0, path.lastIndexOf(".") + 1);

/** The path of a list, of one of its items' paths. */
const list = (path: string): string => path.slice(0, Math.max(path.lastIndexOf("["), 0));

/** The violations that no refused field has a part in: a refused field's other rules do not run. */
function outside(found: readonly Violation[], refusals: readonly Violation[]): readonly Violation[] {
  const refused = new Set<string>();
  // Lists of spans that did not move with their text: none of them is judged by the text that it does not belong to.
  const unmoved = new Set<string>();
  for (const refusal of refusals) {
    if (refusal.severity !== "ERROR") continue;
    refused.add(refusal.path);
    if (refusal.ruleId.startsWith("spans.")) unmoved.add(list(refusal.path));
    for (const name of refusal.rule.spoils ?? []) refused.add(parent(refusal.path) + name);
  }
  const roots = [...refused];
  return found.filter(({ path, ruleId, rule }) => {
    if (refused.has(path) || roots.some((root) => path.startsWith(`${root}.`) || path.startsWith(`${root}[`))) return false;
    if ((rule.needs ?? []).some((need) => refused.has(parent(path) + need))) return false;
    return !(ruleId.startsWith("spans.") && unmoved.has(list(path)));
  });
}
