package api

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// proxies are those whose word about the address of a client counts. Without
// any, the address of the connection is the client's, whatever headers say.
type proxies []netip.Prefix

// ParseProxies reads the addresses of trusted proxies: ranges such as
// 10.0.0.0/8, or single addresses.
func ParseProxies(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range list {
		text = strings.TrimSpace(text)
		if one, err := netip.ParseAddr(text); err == nil && one.Zone() == "" {
			one = one.Unmap()
			out = append(out, netip.PrefixFrom(one, one.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil || p.Addr().Is4In6() {
			return nil, fmt.Errorf("%.80q: expected an address or a range such as 10.0.0.0/8", text)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

func (p proxies) trust(a netip.Addr) bool {
	for _, one := range p {
		if one.Contains(a) {
			return true
		}
	}
	return false
}

// client is the address that a request comes from: that of the connection or,
// when this is a trusted proxy's, the last one in X-Forwarded-For, or else in
// Forwarded, that is none. Everything before it may be invented. What the last
// trusted proxy could not name is taken for the proxy itself.
//
// It is not valid when the connection has no address.
func (p proxies) client(r *http.Request) netip.Addr {
	at, err := parseHop(r.RemoteAddr)
	if err != nil || !p.trust(at) {
		return at
	}
	hops := forwardedFor(r.Header)
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := parseHop(hops[i])
		if err != nil {
			return at
		}
		if at = hop; !p.trust(hop) {
			return at
		}
	}
	return at
}

// Client is the address of the sender of the request, as far as it is known.
func (r *Request) Client() netip.Addr { return proxies(r.api.cfg.TrustedProxies).client(r.HTTP) }

// parseHop reads an address with or without a port, in brackets or not. Zones
// mean nothing beyond one machine.
func parseHop(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	a, err := netip.ParseAddr(text)
	return a.Unmap().WithZone(""), err
}

// forwardedFor are the hops that a request has passed, the nearest last. A
// proxy writes one of two headers; X-Forwarded-For counts when both are there.
func forwardedFor(h http.Header) []string {
	if list := h.Values("X-Forwarded-For"); len(list) > 0 {
		return strings.Split(strings.Join(list, ","), ",")
	}
	var hops []string
	for _, element := range splitUnquoted(strings.Join(h.Values("Forwarded"), ","), ',') {
		hop := ""
		for _, pair := range splitUnquoted(element, ';') {
			if name, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && strings.EqualFold(name, "for") {
				hop = unquote(value)
			}
		}
		hops = append(hops, hop)
	}
	return hops
}

// splitUnquoted splits at a separator outside of quoted texts, see RFC 7239.
func splitUnquoted(text string, separator byte) (parts []string) {
	if text == "" {
		return nil
	}
	quoted, begin := false, 0
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	return append(parts, text[begin:])
}

// unquote reads a quoted text; any other is itself.
func unquote(text string) string {
	inner, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] == '"' {
			break
		}
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		b.WriteByte(inner[i])
	}
	return b.String()
}
