package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
)

// ErrNotLocal means that the address of a provider that is marked as local is not one of this
// machine.
var ErrNotLocal = errors.New("not an address of this machine; expected http://127.0.0.1:PORT or localhost")

// Found is a model server on this machine, with the preset that it usually belongs to.
type Found struct {
	Preset
	Offers []Offer
}

// findTime bounds the listing of models by a server of this machine.
const findTime = 2 * time.Second

// FindLocal looks for servers that list models at the usual addresses of this machine. Of two
// presets with one address the first one is found.
func (t *Tenants) FindLocal(ctx context.Context) (found []Found) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	var all []Found
	asked := map[string]bool{}
	for _, p := range presets {
		if p.Local && !asked[p.BaseURL] {
			asked[p.BaseURL] = true
			all = append(all, Found{Preset: p})
		}
	}
	t.findAll(ctx, all)
	for _, f := range all {
		if len(f.Offers) > 0 {
			found = append(found, f)
		}
	}
	return found
}

// findAll lists the models of servers.
func (t *Tenants) findAll(ctx context.Context, all []Found) {
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			f := &all[i]
			p := Provider{Name: f.Name, API: f.API, BaseURL: f.BaseURL, Local: true, Retries: new(int)}
			made, err := newProvider(p, t.transport(&p))
			if err == nil {
				// Another program may serve the address.
				f.Offers, _ = made.offers(ctx)
			}
		})
	}
	group.Wait()
}

// localPort returns the port of a base URL on this machine.
func localPort(base string) (uint16, error) {
	u, err := url.Parse(base)
	if err != nil {
		return 0, fmt.Errorf("base_url: %w", ErrNotLocal)
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if strings.ToLower(u.Hostname()) != "localhost" && (err != nil || !ip.IsLoopback()) {
		return 0, fmt.Errorf("base_url %s: %w", redact.Address(base), ErrNotLocal)
	}
	switch {
	case u.Port() == "" && u.Scheme == "https":
		return 443, nil
	case u.Port() == "":
		return 80, nil
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return 0, fmt.Errorf("base_url %s: %w", redact.Address(base), ErrNotLocal)
	}
	return uint16(n), nil
}

// transport returns what sends the requests of a provider of a tenant.
func (t *Tenants) transport(p *Provider) http.RoundTripper {
	port, err := localPort(p.BaseURL)
	if !p.Local || t.Local == nil || err != nil {
		return t.Transport
	}
	made, ok := t.local.Load(port)
	if !ok {
		made, _ = t.local.LoadOrStore(port, t.Local(port))
	}
	return made.(http.RoundTripper)
}

// Allows reports whether an operator has allowed the address of a provider before: the stored one
// is local, too, and has the same.
func (t *Tenants) Allows(ctx context.Context, tenant string, p Provider) bool {
	old, err := t.stored(ctx, tenant, p.Label())
	return err == nil && old.Local && reach.SameAddress(old.address(), p.address())
}

// checkLocal reports that a provider is marked as local and has another address.
func (p *Provider) checkLocal() error {
	if !p.Local {
		return nil
	}
	_, err := localPort(p.BaseURL)
	return err
}
