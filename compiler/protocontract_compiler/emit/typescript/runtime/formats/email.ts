// Email addresses as the HTML standard defines a valid e-mail address, which buf.validate adopts. Not RFC 5322.

const LOCAL = /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+$/;
const LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;

/** Whether a text is an email address. */
export function isEmail(text: string): boolean {
  const at = text.indexOf("@");
  return at >= 0 && LOCAL.test(text.slice(0, at)) && text.slice(at + 1).split(".").every((label) => LABEL.test(label));
}
