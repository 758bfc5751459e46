// Package reach decides which addresses a request with an untrusted URL may reach, and which
// headers it may carry there: only the public internet, and credentials for one origin only.
package reach

import (
	"net/netip"
	"slices"
)

// internet is the part of the IPv6 address space that the public internet uses. Addresses outside
// of it embed IPv4 addresses (::/96, ::ffff:0:0:0/96, 64:ff9b::/96, 64:ff9b:1::/48), or are local,
// multicast, or unassigned.
var internet = netip.MustParsePrefix("2000::/3")

// reserved are the ranges that are not public: private, local, shared, documentation, benchmarking,
// multicast, and within the public IPv6 range the protocol assignments, which include Teredo
// (2001::/32), and 6to4 (2002::/16).
var reserved = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// Public reports whether an address belongs to the public internet. An IPv6 address that embeds an
// IPv4 address never does, except that ::ffff:a.b.c.d is treated as a.b.c.d. The JavaScript
// counterpart is wasm/js/src/plugin/special.ts.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || a.Is6() && (!internet.Contains(a) || isISATAP(a)) {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isISATAP reports whether the interface identifier of an address is 0000:5efe or 0200:5efe
// followed by an IPv4 address.
func isISATAP(a netip.Addr) bool {
	b := a.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
