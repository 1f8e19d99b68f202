// The normalizer "label" of integers: the number of a class, or the one number that stands for none.

import { refusal, type Refusal } from "../refusal.js";

/** The classes that are declared. */
export interface ClassOptions {
  readonly numClasses: number;
  readonly ignoreIndex?: bigint;
}

/** Why a class number is refused, or nothing. */
export type ClassChecker = (value: number | bigint) => Refusal | undefined;

/** The check of class numbers: 0 to `numClasses` - 1, or `ignoreIndex`. */
export function classChecker({ numClasses, ignoreIndex }: ClassOptions): ClassChecker {
  const kept = ignoreIndex === undefined ? "" : " or the declared ignore index";
  return (value) =>
    (value >= 0 && value < numClasses) || BigInt(value) === ignoreIndex
      ? undefined
      : refusal("label.unknown", `a number that is no class; expected 0 to ${numClasses - 1}${kept}, got a number`);
}
