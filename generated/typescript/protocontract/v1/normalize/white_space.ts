// Written by protoc-gen-contract 0.1.0. Do not edit.
// The Unicode property White_Space, which the standard keeps fixed. JavaScript's own \s has U+FEFF too and lacks U+0085.

/** The inside of a regular expression class. */
export const WHITE_SPACE_CLASS = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

/** Whether a character (one code unit) is white space. */
export function isWhiteSpace(character: string): boolean {
  switch (character) {
    case " ":
    case "\x85":
    case "\xa0":
    case "\u1680":
    case "\u2028":
    case "\u2029":
    case "\u202f":
    case "\u205f":
    case "\u3000":
      return true;
    default:
      return (character >= "\t" && character <= "\r") || (character >= "\u2000" && character <= "\u200a");
  }
}

/** Where the text begins and ends without white space at its ends; start >= end where there is nothing else. */
export function inner(text: string): readonly [number, number] {
  let start = 0;
  while (start < text.length && isWhiteSpace(text.charAt(start))) {
    start += 1;
  }
  let end = text.length;
  while (end > start && isWhiteSpace(text.charAt(end - 1))) {
    end -= 1;
  }
  return [start, end];
}

/** The text without white space at its ends. */
export function trimmed(text: string): string {
  const [start, end] = inner(text);
  return text.slice(start, end);
}
