// Addresses outside the public internet: private, local, multicast, and those
// that embed such an address. A page cannot see which address its browser dials, so
// only literal addresses are refused there; Node checks every address it dials.
// Its server twin is host/internal/egress/reach; both are tested with the same list.

const v4: [number, number][] = (
  [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 4],
    ["240.0.0.0", 4],
  ] as [string, number][]
).map(([address, bits]) => [number4(address)!, bits]);

// The part of the address space of IPv6 that is public. Addresses outside of it embed addresses of
// IPv4, are local, multicast, or not assigned.
const internet: [bigint, number] = [number6("2000::")!, 3];

const v6: [bigint, number][] = ([
  ["2001::", 23], ["2001:db8::", 32], ["2002::", 16], ["3fff::", 20],
] as [string, number][]).map(([address, bits]) => [number6(address)!, bits]);

/**
 * special reports whether a host is an address, or a name, outside of the public
 * internet.
 */
export function special(host: string): boolean {
  const name = host.replace(/^\[|\]$|\.$/g, "").toLowerCase();
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  const four = number4(name);
  if (four !== undefined) return v4.some(([base, bits]) => four >>> (32 - bits) === base >>> (32 - bits));
  const six = number6(name.split("%")[0]!);
  if (six === undefined) return false;
  // IPv4 in IPv6
  if (six >> 32n === 0xffffn) return special([24n, 16n, 8n, 0n].map((shift) => (six >> shift) & 255n).join("."));
  const within = ([base, bits]: [bigint, number]): boolean => six >> BigInt(128 - bits) === base >> BigInt(128 - bits);
  return !within(internet) || isISATAP(six) || v6.some(within);
}

// The interface of the address is 0000:5efe or 0200:5efe followed by an address of IPv4.
function isISATAP(six: bigint): boolean {
  return ((six >> 32n) & 0xfdffffffn) === 0x5efen;
}

function number4(text: string): number | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

function number6(text: string): bigint | undefined {
  if (!text.includes(":")) return undefined;
  const dotted = /^(.*:)([\d.]+)$/.exec(text);
  if (dotted?.[2]!.includes(".")) {
    const four = number4(dotted[2]!);
    if (four === undefined) return undefined;
    text = `${dotted[1]}${(four >>> 16).toString(16)}:${(four & 0xffff).toString(16)}`;
  }
  const [head = "", tail, more] = text.split("::");
  if (more !== undefined) return undefined;
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const before = groups(head);
  const after = groups(tail ?? "");
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const all = [...before, ...Array<string>(missing).fill("0"), ...after];
  if (all.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return all.reduce((sum, group) => (sum << 16n) | BigInt("0x" + group), 0n);
}
