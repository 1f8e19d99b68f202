// Written by protoc-gen-contract 0.1.0. Do not edit.
// CEL's logic of errors: one is forgotten where another operand decides.
import { counts, type Rule, type Run } from "../violation.js";

/** A rule has no result on this message: division by zero, overflow, a missing key. The message holds no value. */
export class RuleEvaluationError extends Error {
  constructor(message: string, /** Whether no other operand absorbs it. */ readonly ends = false) {
    super(message);
    this.name = "RuleEvaluationError";
  }
}

/** Ends the evaluation of a rule. */
export function fail(message: string): never {
  throw new RuleEvaluationError(message);
}

/** Runs an evaluation. A rule without a result ends the run, unless it does not count in this context. */
export function evaluated(run: Run, rule: Rule, evaluation: () => void): void {
  try {
    evaluation();
  } catch (error) {
    if (!(error instanceof RuleEvaluationError) || counts(run, rule)) throw error;
  }
}

/** Whether one of some tests gives `wanted`; if none does, the first error counts. */
function decides(tests: Iterable<() => boolean>, wanted: boolean): boolean {
  let first: RuleEvaluationError | undefined;
  for (const test of tests) {
    try {
      if (test() === wanted) return true;
    } catch (error) {
      if (!(error instanceof RuleEvaluationError) || error.ends) throw error;
      first ??= error;
    }
  }
  if (first !== undefined) throw first;
  return false;
}

/** `&&` of operands that may fail: false wins, then the first error. */
export function and(...operands: readonly (() => boolean)[]): boolean {
  return !decides(operands, false);
}

/** `||` of operands that may fail: true wins, then the first error. */
export function or(...operands: readonly (() => boolean)[]): boolean {
  return decides(operands, true);
}

/** `items.all(x, predicate)` with a predicate that may fail. */
export function all<T>(items: readonly T[], predicate: (item: T) => boolean): boolean {
  return !decides(items.map((item) => () => predicate(item)), false);
}

/** `items.exists(x, predicate)` with a predicate that may fail. */
export function exists<T>(items: readonly T[], predicate: (item: T) => boolean): boolean {
  return decides(items.map((item) => () => predicate(item)), true);
}

/** The subject of `matches`: protovalidate's engine ends the rule if it fails, whatever else would decide. */
export function abort<T>(operand: () => T): T {
  try {
    return operand();
  } catch (error) {
    if (error instanceof RuleEvaluationError) throw new RuleEvaluationError(error.message, true);
    throw error;
  }
}
