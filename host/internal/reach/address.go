// Package reach says what a request whose address strangers choose may reach, and what it may carry
// there: addresses of the public internet, and credentials for one origin only.
package reach

import (
	"net/netip"
	"slices"
)

// internet is what the public internet uses of the address space of IPv6. What lies outside embeds
// addresses of IPv4 (::/96, ::ffff:0:0:0/96, 64:ff9b::/96, 64:ff9b:1::/48), is local, multicast, or
// not assigned.
var internet = netip.MustParsePrefix("2000::/3")

// reserved are ranges that are not the public internet: private, local, shared, documentation,
// benchmarks, multicast, and inside the internet of IPv6 the ranges of protocols, Teredo
// (2001::/32) among them, and 6to4 (2002::/16).
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

// Public reports whether an address belongs to the public internet. An address of IPv6 that embeds
// one of IPv4 does not, whichever it is, except that ::ffff:a.b.c.d is a.b.c.d. The twin in
// JavaScript is wasm/js/src/plugin/special.ts.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || a.Is6() && (!internet.Contains(a) || isISATAP(a)) {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isISATAP reports whether the interface of an address is 0000:5efe or 0200:5efe followed by an
// address of IPv4.
func isISATAP(a netip.Addr) bool {
	b := a.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
