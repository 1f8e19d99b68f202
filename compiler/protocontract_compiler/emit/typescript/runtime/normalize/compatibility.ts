// The form NFKC: compatibility decompositions beside the canonical ones.

import { formOf, mappingsOf, type Form } from "./composition.js";
import { COMPATIBILITY } from "./data/compatibility.js";

let form: Form | undefined;

/** The form NFKC. */
export function nfkc(): Form {
  form ??= formOf(mappingsOf(COMPATIBILITY));
  return form;
}
