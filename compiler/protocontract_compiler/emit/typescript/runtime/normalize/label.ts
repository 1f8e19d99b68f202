// The normalizer "label": the ways in which a class is written, made the one canonical label; and class numbers.

import { describe, refusal, type Refusal } from "../refusal.js";
import { caseFolded } from "./casefold.js";
import { nfkc } from "./compatibility.js";
import { normalized } from "./composition.js";
import { trimmed } from "./white_space.js";

/** The canonical label, the value itself where it is one already, or why it is refused. */
export type LabelNormalizer = (value: string) => string | Refusal;

/** The normalizer of texts. `words`: what labels and aliases are compared by -> the canonical label. */
export function labelNormalizer(words: readonly (readonly [string, string])[]): LabelNormalizer {
  const lookup = new Map(words);
  const canonical = new Set(lookup.values());
  return (value) =>
    canonical.has(value)
      ? value
      : (lookup.get(folded(value)) ??
        refusal("label.unknown", `no declared label; expected one of ${canonical.size}, got ${describe(value)}`));
}

/** What labels are compared by: NFKC, trimmed, case folded (and NFKC again, since folding can undo it). */
function folded(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) {
    return trimmed(text).toLowerCase();
  }
  if (/[\ud800-\udfff]/u.test(text)) {
    return text; // no text, and so no alias
  }
  return normalized(nfkc(), caseFolded(trimmed(normalized(nfkc(), text))));
}
