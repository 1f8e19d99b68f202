// Host names (RFC 1123 section 2.1, RFC 1034 section 3.5) and pairs of host and port (RFC 3986 section 3.2).
import { isIp } from "./ip.js";

const LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;

/** Whether a text is a host name: one final dot is allowed and not counted; the last label is not all digits. */
export function isHostname(text: string): boolean {
  const name = text.endsWith(".") ? text.slice(0, -1) : text;
  const labels = name.split(".");
  // What matches is ASCII, so code units are characters.
  return name.length <= 253 && labels.every((label) => LABEL.test(label)) && !/^[0-9]+$/.test(labels.at(-1)!);
}

/** Whether a text is a port number in decimal without leading zeros. */
export function isPort(text: string): boolean {
  return /^(?:0|[1-9][0-9]{0,4})$/.test(text) && Number(text) <= 65_535;
}

/** Whether a text is a host name, IPv4 address or bracketed IPv6 address with `:port`, or without unless it is required. */
export function isHostAndPort(text: string, portRequired: boolean): boolean {
  if (text.startsWith("[")) {
    const bracket = text.lastIndexOf("]");
    const rest = text.slice(bracket + 1);
    if (bracket < 0 || !isIp(text.slice(1, bracket), 6n)) return false;
    return rest === "" ? !portRequired : rest.startsWith(":") && isPort(rest.slice(1));
  }
  const colon = text.lastIndexOf(":");
  const host = colon < 0 ? text : text.slice(0, colon);
  if (colon < 0 ? portRequired : !isPort(text.slice(colon + 1))) return false;
  return isHostname(host) || isIp(host, 4n);
}
