package tools

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/hostmatch"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/node"
	"github.com/easel-canvas/easel/plugins/tools"
)

// port answers engine.Tools for one run.
type port struct {
	set     *Set
	tenant  string
	secrets engine.Secrets
	guest   bool // the canvas is not one of the host
}

// CallTool runs the tool that serves a component.
func (p *port) CallTool(ctx context.Context, c *engine.ExternalCall) (engine.Value, error) {
	t, ok, err := find(c.Component)
	if err != nil {
		return engine.Null, err
	}
	if !ok {
		return engine.Null, fmt.Errorf("%s: %w: no tool of this program serves it", c.Component, engine.ErrNoPort)
	}
	if err := p.set.cfg.Switches.off(t.Name()); err != nil {
		return engine.Null, &Error{Code: string(contract.Denied), Message: err.Error(), final: engine.ErrNoRetry}
	}
	m, err := p.set.module(ctx, t)
	if err != nil {
		return engine.Null, err
	}
	defer m.Unpin()
	keys := &keyring{from: p.secrets, mark: c.SecretMark}
	inv, err := p.invocation(t, m, c, keys)
	if err != nil {
		wrong := &Error{Code: string(contract.InvalidArgument), Message: err.Error(), final: engine.ErrNoRetry}
		return engine.Null, wrong
	}
	answer, err := p.set.invoke(ctx, t, m, inv)
	if answer.Waited > 0 && c.Queued != nil {
		c.Queued(engine.QueuePlugin, t.Name(), answer.Waited)
	}
	if err != nil {
		return engine.Null, failure(ctx, err, keys.failed)
	}
	return answer.Outputs, nil
}

// invocation returns a call as the plugin host takes it.
func (p *port) invocation(
	t tools.Tool, m *plugin.Module, c *engine.ExternalCall, keys *keyring,
) (plugin.Invocation, error) {
	inv := plugin.Invocation{ID: c.Key}
	inv.Tenant, inv.SecretMark = p.tenant, engine.NewSecretMark()
	in := node.NewToolInput(m.Manifest(), c.Params, c.Arguments, c.SecretMark, inv.SecretMark)
	inv.Params, inv.Arguments, keys.texts = in.Params, in.Arguments, in.Keys
	inv.Services.Secrets = keys
	if p.guest && len(keys.texts) > 0 {
		if err := sameHost(t, inv.Params, keys); err != nil {
			return inv, err
		}
	}
	grant, err := p.grant(t, m, inv.Params)
	inv.Grant = &grant
	return inv, err
}

// sameHost refuses a secret of the host if the canvas sets the address of the service: a canvas
// that was not saved on the host could have the secret sent anywhere.
func sameHost(t tools.Tool, params engine.Value, keys *keyring) error {
	if params.Get(t.BaseParam()).Str() == "" {
		return nil
	}
	for name, text := range keys.texts {
		if engine.UnmarkSecrets(text, keys.mark) != text {
			const why = "a secret of the host goes to the tool's own service only"
			return fmt.Errorf("param %s: %s; remove %s, or save the canvas on the host", name, why, t.BaseParam())
		}
	}
	return nil
}

// grant returns the permissions of a call: the grant of the tool, and the host of an address in the
// canvas's params. An address from a model, a user or a reference is not granted: it would let them
// choose where the key goes.
func (p *port) grant(t tools.Tool, m *plugin.Module, params engine.Value) (contract.Permissions, error) {
	grant := m.Granted()
	if grant.HTTP == nil {
		return grant, nil
	}
	http := *grant.HTTP
	http.Private = p.set.cfg.AllowPrivate
	host, plain, err := ownHost(t, params)
	if err != nil {
		return grant, err
	}
	if host != "" {
		http.Hosts = append(slices.Clone(http.Hosts), host)
		secrets := map[string]contract.SecretPermission{}
		for name, s := range grant.Secrets {
			s.Hosts, s.Plain = append(slices.Clone(s.Hosts), host), s.Plain || plain
			secrets[name] = s
		}
		grant.Secrets = secrets
	}
	grant.HTTP = &http
	if p.set.cfg.Grant != nil {
		if most := p.set.cfg.Grant(p.tenant); most != nil { // keys are the canvas's own
			grant.HTTP = grant.Cut(*most).HTTP
		}
	}
	return grant, nil
}

// ownHost returns the host that the params of the canvas name instead of the service's; "" for
// none. plain reports an address without encryption.
func ownHost(t tools.Tool, params engine.Value) (host string, plain bool, err error) {
	address := params.Get(t.BaseParam()).Str()
	if address == "" {
		return "", false, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		const wanted = "use an http or https address without user name; references are not replaced in it"
		return "", false, fmt.Errorf("param %s: %q: %s", t.BaseParam(), address, wanted)
	}
	return hostmatch.Of(u), u.Scheme == "http", nil
}

// keyring resolves the keys of one call for the plugin host, by the names of params.
type keyring struct {
	from  engine.Secrets
	mark  string            // carried by placeholders of the canvas
	texts map[string]string // params as the canvas has them

	failed error // why a key could not be had
}

// Secret returns the value of a param that holds a key: literal, or a secret of the host by name. A
// secret keeps the hosts it is bound to.
func (k *keyring) Secret(ctx context.Context, name string) (engine.Secret, bool, error) {
	text, ok := k.texts[name]
	if !ok {
		return engine.Secret{}, false, nil
	}
	var bound []string
	value, err := engine.FillSecrets(text, k.mark, func(name string) (string, error) {
		if k.from == nil {
			return "", fmt.Errorf("secret %q: %w", name, engine.ErrNoPort)
		}
		s, err := k.from.Secret(ctx, name)
		if err == nil && len(bound) > 0 && len(s.Hosts) > 0 && !slices.Equal(bound, s.Hosts) {
			err = fmt.Errorf("secret %q is bound to other hosts than the one before it", name)
		}
		if len(s.Hosts) > 0 {
			bound = s.Hosts
		}
		return s.Value, err
	})
	if err != nil {
		k.failed = fmt.Errorf("param %s: %w", name, err)
		return engine.Secret{}, false, ctx.Err()
	}
	return engine.Secret{Value: strings.TrimSpace(value), Hosts: bound}, true, nil
}

// failure converts an error of a tool for a node: its code and message, marked as final if a retry
// cannot help. keys is the error of a key that could not be read, if any.
func failure(ctx context.Context, err, keys error) error {
	var e *contract.Error
	if !errors.As(err, &e) {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := &Error{Code: string(e.Code), Message: e.Message}
	if keys != nil {
		out.Message = keys.Error()
	}
	if ms, ok := e.Data.Get("retry_after_ms").Int(); ok {
		out.RetryAfterMS = ms
	}
	if !e.Retryable && e.Code != contract.Timeout && e.Code != contract.Unavailable {
		out.final = engine.ErrNoRetry
	}
	return out
}

// Error is the failure of a tool, with a code of the plugin contract, such as rate_limited.
type Error struct {
	Code, Message string
	RetryAfterMS  int64 // with rate_limited, if the service sets it
	final         error
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Unwrap returns engine.ErrNoRetry if a retry cannot help.
func (e *Error) Unwrap() error { return e.final }
