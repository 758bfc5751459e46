package plugin

import (
	"context"
	"encoding/json"
	"slices"
)

type varArgs struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// variable runs f outside the guest, when the name is granted.
func (g *guest) variable(name, verb string, granted func(*VariablePermission) []string, f func(context.Context, Variables) (any, error)) (any, *Error) {
	p := g.grant.Variables
	switch {
	case p == nil || !slices.Contains(granted(p), name) && !slices.Contains(granted(p), "*"):
		return nil, fail(Denied, "%s variable %q is not granted", verb, name)
	case g.req.Services.Variables == nil:
		return nil, fail(Unsupported, "there are no variables here")
	}
	var out any
	var err error
	g.outside(func() {
		ctx, stop := g.hostContext()
		defer stop()
		out, err = f(ctx, g.req.Services.Variables)
	})
	if err != nil {
		return nil, asError(err, Upstream)
	}
	return out, nil
}

func (g *guest) varGet(a varArgs) (any, *Error) {
	read := func(p *VariablePermission) []string { return p.Read }
	return g.variable(a.Name, "reading", read, func(ctx context.Context, v Variables) (any, error) {
		value, found, err := v.Variable(ctx, a.Name)
		return map[string]any{"found": found, "value": value}, err
	})
}

func (g *guest) varSet(a varArgs) (any, *Error) {
	if len(a.Value) == 0 {
		return nil, fail(InvalidArgument, "var.set: value is missing")
	}
	write := func(p *VariablePermission) []string { return p.Write }
	return g.variable(a.Name, "writing", write, func(ctx context.Context, v Variables) (any, error) {
		return none{}, v.SetVariable(ctx, a.Name, a.Value)
	})
}
