// IP addresses and prefixes: RFC 4291 section 2.2 for IPv6, RFC 4007 section 11 for zones, RFC 4632 for prefixes.

const OCTET = /^(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])$/;
const GROUP = /^[0-9a-fA-F]{1,4}$/;

function ipv4(text: string): bigint | undefined {
  const octets = text.split(".");
  if (octets.length !== 4 || !octets.every((octet) => OCTET.test(octet))) return undefined;
  return octets.reduce((value, octet) => (value << 8n) | BigInt(octet), 0n);
}

/** The 16-bit groups of one side of an address; `last` says that an IPv4 address may end it. */
function groups(text: string, last: boolean): bigint[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const found: bigint[] = [];
  if (last && parts.at(-1)!.includes(".")) {
    const embedded = ipv4(parts.pop()!);
    if (embedded === undefined) return undefined;
    found.push(embedded >> 16n, embedded & 0xffffn);
  }
  if (!parts.every((part) => GROUP.test(part))) return undefined;
  return [...parts.map((part) => BigInt(`0x${part}`)), ...found];
}

function ipv6(text: string): bigint | undefined {
  const colons = text.indexOf("::");
  const left = groups(colons < 0 ? text : text.slice(0, colons), colons < 0);
  const right = colons < 0 ? [] : groups(text.slice(colons + 2), true);
  if (left === undefined || right === undefined) return undefined;
  const missing = 8 - left.length - right.length;
  if (missing < 0 || missing > 0 !== colons >= 0) return undefined;
  const zeros = Array<bigint>(missing).fill(0n);
  return [...left, ...zeros, ...right].reduce((value, group) => (value << 16n) | group, 0n);
}

function isIpv6WithZone(text: string): boolean {
  const percent = text.indexOf("%");
  if (percent < 0) return ipv6(text) !== undefined;
  const zone = text.slice(percent + 1);
  return zone !== "" && !zone.includes("\0") && ipv6(text.slice(0, percent)) !== undefined;
}

/** Whether a text is an IP address of a version: 4, 6 (a zone is allowed), or 0 for either. */
export function isIp(text: string, version: bigint): boolean {
  return ((version === 4n || version === 0n) && ipv4(text) !== undefined)
    || ((version === 6n || version === 0n) && isIpv6WithZone(text));
}

/** Whether a text is an address and a prefix length; `strict` wants the bits after the prefix to be zero. */
export function isIpPrefix(text: string, version: bigint, strict: boolean): boolean {
  const slash = text.lastIndexOf("/");
  const length = text.slice(slash + 1);
  if (slash < 0 || !/^(?:0|[1-9][0-9]{0,2})$/.test(length) || ![0n, 4n, 6n].includes(version)) return false;
  const address = text.slice(0, slash);
  const four = version === 6n ? undefined : ipv4(address);
  const bits = four === undefined ? 128n : 32n;
  const value = four ?? (version === 4n ? undefined : ipv6(address));
  if (value === undefined || BigInt(length) > bits) return false;
  return !strict || (value & ((1n << (bits - BigInt(length))) - 1n)) === 0n;
}
