// Written by protoc-gen-contract 0.1.0. Do not edit.
// The relation "sequence": repeated integers that follow a law; or any values, as many as another list has.

import { refusal, type Refusal } from "../refusal.js";

/** The options of one `sequence` relation. */
export interface SequenceOptions {
  readonly first?: bigint;
  readonly step?: bigint;
  readonly strictlyIncreasing?: boolean;
}

/** Every break of the law in order; undefined where there is none. `otherLength` is the length that is demanded. */
export type SequenceChecker = (values: readonly unknown[], otherLength?: number) => Refusal[] | undefined;

/** The check with these options. */
export function sequenceChecker({ first, step, strictlyIncreasing = false }: SequenceOptions): SequenceChecker {
  const start = first ?? (step === undefined ? undefined : 0n);
  const lawful = start !== undefined || strictlyIncreasing;
  return (values, otherLength) => {
    const found: Refusal[] = [];
    if (otherLength !== undefined && values.length !== otherLength) {
      found.push(
        refusal(
          "sequence.length",
          `not as long as the list beside it; expected ${otherLength} values, got ${values.length}`,
        ),
      );
    }
    if (lawful) {
      breaks((values as readonly (number | bigint)[]).map(BigInt), found);
    }
    return found.length > 0 ? found : undefined;
  };

  function breaks(items: readonly bigint[], found: Refusal[]): void {
    items.forEach((item, at) => {
      const before = items[at - 1];
      if (before === undefined) {
        if (start !== undefined && item !== start) {
          found.push(refusal("sequence.step", `a first value that is not ${start}`, 0));
        }
      } else if (step !== undefined) {
        if (item - before !== step) {
          found.push(refusal("sequence.step", `a value that does not follow by ${step}`, at));
        }
      } else if (strictlyIncreasing && item <= before) {
        found.push(refusal("sequence.step", "a value that is not above the one before it", at));
      }
    });
  }
}
