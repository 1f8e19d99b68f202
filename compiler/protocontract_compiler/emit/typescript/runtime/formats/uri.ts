// URIs and URI references: the grammar of RFC 3986 appendix A, with zones in IPv6 literals from RFC 6874.
import { isIp } from "./ip.js";

const UNRESERVED = "a-zA-Z0-9\\-._~";
const SUB_DELIMS = "!$&'()*+,;=";

/** Nothing but some characters and percent-encodings: no two of the branches begin alike, so that matching is linear. */
const only = (characters: string): RegExp => new RegExp(`^(?:[${characters}]|%[0-9a-fA-F]{2})*$`);

const PCHARS = /* @__PURE__ */ only(`${UNRESERVED}${SUB_DELIMS}:@`);
const PATH = /* @__PURE__ */ only(`${UNRESERVED}${SUB_DELIMS}:@/`);
const TAIL = /* @__PURE__ */ only(`${UNRESERVED}${SUB_DELIMS}:@/?`);
const NAME = /* @__PURE__ */ only(`${UNRESERVED}${SUB_DELIMS}`);
const USERINFO = /* @__PURE__ */ only(`${UNRESERVED}${SUB_DELIMS}:`);
const ZONE = /* @__PURE__ */ only(UNRESERVED);
const FUTURE = new RegExp(`^[vV][0-9a-fA-F]+\\.[${UNRESERVED}${SUB_DELIMS}:]+$`);

/** A text up to a mark, and from it on; all of it, and nothing, where it has none. */
function cut(text: string, mark: RegExp): [string, string] {
  const place = text.search(mark);
  return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place)];
}

/** Whether percent-encodings make UTF-8. */
function isUtf8(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function isAddress(literal: string): boolean {
  if (FUTURE.test(literal)) return true;
  const percent = literal.indexOf("%25");
  const [address, zone] = percent < 0 ? [literal, ""] : [literal.slice(0, percent), literal.slice(percent + 3)];
  if (address.includes("%") || (percent >= 0 && (zone === "" || !ZONE.test(zone)))) return false;
  return isIp(address, 6n) && isUtf8(zone);
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at >= 0 && !USERINFO.test(text.slice(0, at))) return false;
  const rest = text.slice(at + 1);
  if (rest.startsWith("[")) {
    const bracket = rest.indexOf("]");
    return bracket >= 0 && /^(?::[0-9]*)?$/.test(rest.slice(bracket + 1)) && isAddress(rest.slice(1, bracket));
  }
  const [host, port] = cut(rest, /:/);
  return NAME.test(host) && /^(?::[0-9]*)?$/.test(port) && isUtf8(host);
}

/** What may stand after the scheme; `relative`: the first segment of a path has no colon. */
function isRest(text: string, relative: boolean): boolean {
  const [head, tail] = cut(text, /[?#]/);
  const [query, fragment] = cut(tail, /#/);
  if (!TAIL.test(query.slice(1)) || !TAIL.test(fragment.slice(1))) return false;
  if (head.startsWith("//")) {
    const [authority, path] = cut(head.slice(2), /\//);
    return isAuthority(authority) && PATH.test(path);
  }
  const [first] = cut(head, /\//);
  return PCHARS.test(first) && PATH.test(head) && !(relative && first.includes(":"));
}

/** Whether a text is a URI: it has a scheme. */
export function isUri(text: string): boolean {
  const scheme = /^[a-zA-Z][a-zA-Z0-9+\-.]*:/.exec(text);
  return scheme !== null && isRest(text.slice(scheme[0].length), false);
}

/** Whether a text is a URI or a relative reference (`/path?query`). */
export const isUriRef = (text: string): boolean => isUri(text) || isRest(text, true);
