// What is told of the amounts of a text that stay as they are.

import { refusal, type Refusal } from "../refusal.js";
import { refuse, type At, type Run, type Site, type Subscript } from "../violation.js";

/**
 * Notes amounts that cannot be read: warnings, unless the contract declares them errors. The rule is the text's own,
 * `text.amount`; why the amount could not be read is in the message.
 */
export function warnAll(
  run: Run,
  site: Site,
  refusals: readonly Refusal[],
  value: string,
  at: At,
  subscript?: Subscript,
): void {
  for (const { message } of refusals) {
    refuse(run, site, refusal("text.amount", message), value, at, subscript, "WARNING");
  }
}
