package plugin

import (
	"context"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// variable returns the name of a variable that is granted. verb is the operation of the guest.
func (r *requests) variable(args engine.Value, verb string,
	granted func(*contract.VariablePermission) []string,
) (string, error) {
	p := r.g.grant.Variables
	name := args.Get("name").Str()
	switch {
	case p == nil || !slices.Contains(granted(p), name) && !slices.Contains(granted(p), "*"):
		return "", contract.Errorf(contract.Denied, "%s variable %q is not granted", verb, name)
	case r.g.req.Services.Variables == nil:
		return "", contract.Errorf(contract.Unsupported, "variables are not available here")
	}
	return name, nil
}

func (r *requests) varGet(args engine.Value) (engine.Value, error) {
	name, err := r.variable(args, "reading", func(p *contract.VariablePermission) []string { return p.Read })
	if err != nil {
		return engine.Null, err
	}
	var value engine.Value
	var found bool
	r.outside(func(ctx context.Context) { value, found, err = r.g.req.Services.Variables.Variable(ctx, name) })
	return engine.Object("found", found, "value", value), err
}

func (r *requests) varSet(args engine.Value) (engine.Value, error) {
	value, given := args.Lookup("value")
	if !given {
		return engine.Null, contract.Errorf(contract.InvalidArgument, "var.set: value is missing")
	}
	name, err := r.variable(args, "writing", func(p *contract.VariablePermission) []string { return p.Write })
	if err != nil {
		return engine.Null, err
	}
	r.outside(func(ctx context.Context) { err = r.g.req.Services.Variables.SetVariable(ctx, name, value) })
	return engine.Object(), err
}
