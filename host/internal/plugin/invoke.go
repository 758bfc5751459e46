package plugin

import (
	"cmp"
	"context"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Invocation is one run of a plugin as a component or tool.
type Invocation struct {
	CallRequest // Export and Input are set by Invoke

	// Component is the component of a file with several, as in [contract.Manifest.Named]; nil for
	// the plugin itself.
	Component *contract.Manifest
	ID        string // of the call
	Node      string // id of the node, such as Weather:0
	Attempt   int    // 1 for the first; 0 counts as 1
	Locale    string
	Preview   bool
	// Params are the node's settings with references resolved, null is an empty object; Arguments
	// come from a model, null for none. Placeholders of secrets that the canvas itself writes carry
	// the SecretMark of the call.
	Params, Arguments engine.Value
}

// Answer is the result of an invocation.
type Answer struct {
	contract.Answer
	Result // of the call; Output is the raw message
}

const (
	exportInvoke   = "easel_invoke"
	exportCheck    = "easel_check"
	exportDescribe = "easel_describe"
)

// Invoke runs the plugin with the messages of the contract, or those of its entry. Params and
// arguments are checked before, outputs after; a mismatch is InvalidArgument or BadOutput and names
// the place.
func (m *Module) Invoke(ctx context.Context, in Invocation) (Answer, error) {
	about := cmp.Or(in.Component, m.manifest)
	in.Export = about.Export()
	var err error
	set := in.Settings
	if in.Settings, err = about.Configured(set); err != nil {
		e := contract.AsError(err, contract.MissingSetting)
		if missing := about.MissingSettings(set); len(missing) > 0 {
			e.Message += "; " + HowToSet(m, Setting, missing[0])
		}
		return Answer{}, e.At(m.manifest.Name, in.Export)
	}
	input, err := m.Input(ctx, in)
	if err != nil {
		return Answer{}, contract.AsError(err, contract.InvalidArgument).At(m.manifest.Name, in.Export)
	}
	in.CallRequest.Input, in.CallRequest.id, in.CallRequest.node = input, in.ID, in.Node
	res, err := m.Call(ctx, in.CallRequest)
	if err != nil {
		return Answer{Result: res}, err
	}
	answer, err := about.ReadOutput(res.Output)
	if err != nil {
		return Answer{Result: res}, contract.AsError(err, contract.BadOutput).At(m.manifest.Name, in.Export)
	}
	answer.Files = res.Stored
	return Answer{Answer: answer, Result: res}, nil
}

// Check runs easel_check on params, without any permission. Without that export the schema decides.
// about is the manifest of one of its components, or nil for the plugin itself.
func (m *Module) Check(ctx context.Context, about *contract.Manifest, params engine.Value) error {
	about = cmp.Or(about, m.manifest)
	if err := about.CheckInput(params, engine.Null); err != nil {
		return contract.AsError(err, contract.InvalidArgument).At(m.manifest.Name, exportCheck)
	}
	if !m.Has(exportCheck) {
		return nil
	}
	if params.IsNull() {
		params = engine.Object()
	}
	_, err := m.Call(ctx, CallRequest{
		Export: exportCheck, Input: about.CheckMessage(params), Grant: &contract.Permissions{},
	})
	return err
}

// Input returns the message Invoke hands to the plugin, after params and arguments were checked.
func (m *Module) Input(ctx context.Context, in Invocation) ([]byte, error) {
	params, arguments := contract.Unmarked(in.Params, in.SecretMark), contract.Unmarked(in.Arguments, in.SecretMark)
	about := cmp.Or(in.Component, m.manifest)
	if err := about.CheckInput(params, arguments); err != nil {
		return nil, err
	}
	call := contract.CallInfo{
		ID: in.ID, Run: in.Run, Node: in.Node, Attempt: in.Attempt, Locale: in.Locale, Preview: in.Preview,
		Left: within(in.Timeout, m.limits.Timeout()), Settings: in.Settings,
	}
	if d, ok := ctx.Deadline(); ok {
		call.Left = min(call.Left, time.Until(d))
	}
	if m.AllowsSecrets(in.Grant) {
		call.SecretMark = in.SecretMark
	}
	return about.Message(call, in.Params, in.Arguments)
}

// AllowsSecrets reports whether a call with this grant, nil for the module's own, may use any
// secret.
func (m *Module) AllowsSecrets(grant *contract.Permissions) bool {
	if grant == nil {
		grant = &m.granted
	}
	return len(grant.Secrets) > 0
}
