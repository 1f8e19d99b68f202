// Written by protoc-gen-contract 0.1.0. Do not edit.
// The normalizer "text": the declared steps, in one order, with the exact map of offsets.
//
// `reject` looks at the raw text and at the result. Half of a surrogate pair is always refused. Where nothing changes
// there is no result, so that a clean text costs little.

import { describe, isRefusal, refusal, type Refusal } from "../refusal.js";
import { normalizationEdits, type Form } from "./composition.js";
import { editMap, splice, type Edit, type EditMap, type Kind } from "./edits.js";
import { inner, WHITE_SPACE_CLASS } from "./white_space.js";

/** One step: the edits that it makes, or why the text is refused. */
export type Step = (text: string) => readonly Edit[] | Refusal;

/** A class of characters that `reject` names. */
export interface RejectClass {
  readonly ruleId: string;
  readonly what: string;
  readonly present: (text: string) => boolean;
}

/** The options of one text field. */
export interface TextOptions {
  readonly steps: readonly Step[];
  readonly reject?: readonly RejectClass[];
  readonly rejectEmpty?: boolean;
}

/** A text's normalizer: the map into the normalised text, why it is refused, or nothing where nothing changes. */
export type TextNormalizer = (value: string) => EditMap | Refusal | undefined;

/** The normalizer with these options. */
export function textNormalizer(options: TextOptions): TextNormalizer {
  const { reject = [], rejectEmpty = false } = options;
  return (value) => {
    const result = stepped(value, options);
    if (isRefusal(result)) {
      return result;
    }
    const { text, trace } = result;
    if (text !== value) {
      const after = refused(text, reject);
      if (after !== undefined) {
        return after;
      }
    }
    if (text === "" && rejectEmpty) {
      return refusal("text.empty", "nothing is left of the text; expected at least one character");
    }
    return text === value ? undefined : editMap(text, trace);
  };
}

/** A text after steps, and what each of them did. */
export interface Stepped {
  readonly text: string;
  readonly trace: readonly (readonly Edit[])[];
}

/** The text after the steps, without a look at the result; or why it is refused. */
export function stepped(value: string, { steps, reject = [] }: TextOptions): Stepped | Refusal {
  const before = refused(value, reject);
  if (before !== undefined) {
    return before;
  }
  let text = value;
  const trace: (readonly Edit[])[] = [];
  for (const step of steps) {
    const edits = step(text);
    if (isRefusal(edits)) {
      return edits;
    }
    if (edits.length > 0) {
      trace.push(edits);
      text = splice(text, edits);
    }
  }
  return { text, trace };
}

function refused(text: string, classes: readonly RejectClass[]): Refusal | undefined {
  if (/[\ud800-\udfff]/u.test(text)) {
    return refusal("text.surrogate", `half of a surrogate pair; expected Unicode text, got ${describe(text)}`);
  }
  const found = classes.find(({ present }) => present(text));
  return found === undefined
    ? undefined
    : refusal(found.ruleId, `${found.what}; expected none, got ${describe(text)}`);
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps

/** One leading U+FEFF goes. */
export function stripBom(text: string): readonly Edit[] {
  return text.startsWith("\ufeff") ? [{ start: 0, end: 1, text: "", kind: "unit" }] : [];
}

/** Unicode normalization to a form. */
export function normalization(form: () => Form): Step {
  // Nothing in ASCII changes.
  return (text) => (/[^\0-\x7f]/.test(text) ? normalizationEdits(form(), text) : []);
}

/** Category Cc goes, except White_Space. */
export function stripControls(text: string): readonly Edit[] {
  return replaced(text, /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]+/gu, "", "unit");
}

/** A run of white space becomes one U+0020: two and more, or one that is not a space yet. */
export function collapseWhitespace(text: string): readonly Edit[] {
  const others = WHITE_SPACE_CLASS.replace(" ", "");
  return replaced(text, new RegExp(`[${WHITE_SPACE_CLASS}]{2,}|[${others}]`, "gu"), " ", "run");
}

/** White space at both ends goes. */
export function trim(text: string): readonly Edit[] {
  const [start, end] = inner(text);
  if (start >= end) {
    return text === "" ? [] : [{ start: 0, end: text.length, text: "", kind: "unit" }];
  }
  const edits: Edit[] = start > 0 ? [{ start: 0, end: start, text: "", kind: "unit" }] : [];
  if (end < text.length) {
    edits.push({ start: end, end: text.length, text: "", kind: "unit" });
  }
  return edits;
}

function replaced(text: string, pattern: RegExp, by: string, kind: Kind): Edit[] {
  return Array.from(text.matchAll(pattern), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
    text: by,
    kind,
  }));
}

// ---------------------------------------------------------------------------------------------------------------------
// Classes of characters. The standard keeps each of them fixed.

/** U+0000. */
export const NUL: RejectClass = {
  ruleId: "text.nul",
  what: "U+0000",
  present: (text) => text.includes("\0"),
};

/** Category Cc but TAB, LF and CR. */
export const CONTROL: RejectClass = {
  ruleId: "text.control",
  what: "a control character other than TAB, LF and CR",
  present: (text) => /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/u.test(text),
};

/** U+FFFD. */
export const REPLACEMENT: RejectClass = {
  ruleId: "text.replacement",
  what: "U+FFFD, the mark of a text that was damaged before it came",
  present: (text) => text.includes("\ufffd"),
};

/** U+FDD0 to U+FDEF and the last two of each plane. */
export const NONCHARACTER: RejectClass = {
  ruleId: "text.noncharacter",
  what: "a noncharacter",
  present: (text) => /\p{Noncharacter_Code_Point}/u.test(text),
};

/** Bidi_Control. */
export const BIDI_CONTROL: RejectClass = {
  ruleId: "text.bidi",
  what: "a control of the writing direction",
  present: (text) => /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(text),
};

/** Category Co. */
export const PRIVATE_USE: RejectClass = {
  ruleId: "text.private_use",
  what: "a private use character",
  present: (text) => /[\ue000-\uf8ff\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}]/u.test(text),
};

/** U+E0000 to U+E007F outside of the valid sequences of emoji flags (UTS #51, annex C). */
export const TAG: RejectClass = {
  ruleId: "text.tag",
  what: "a tag character outside of an emoji flag",
  present: (text) =>
    /[\u{e0000}-\u{e007f}]/u.test(
      text.replace(/\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu, ""),
    ),
};
