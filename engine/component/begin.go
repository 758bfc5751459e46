package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

var beginSpec = engine.Spec{
	Ignores: []string{
		"enablePrologue", "enable_tips", "tips",
		// Hosts that serve webhooks read these.
		"methods", "content_types", "schema", "security", "execution_mode", "response", "max_body_size",
	},
	Name:     "Begin",
	Category: engine.CategoryConversation, Icon: "play", Role: engine.RoleStart,
	Doc: "Where every canvas starts. It takes what the caller passed: form fields, or the parts of a web request.",
	New: func() engine.Component { return new(Begin) },
	Outputs: []engine.Field{
		{Name: "*", Type: "any", Doc: "each form field the caller passed, under its own name"},
		{Name: "query", Type: "object", Doc: "webhook: fields of the query that schema names"},
		{Name: "headers", Type: "object", Doc: "webhook: headers that schema names"},
		{Name: "body", Type: "object", Doc: "webhook: fields of the body that schema names"},
		{Name: "raw_body", Type: "string", Doc: "webhook: the whole body as it arrived, except that of a multipart form"},
		{Name: "raw_encoding", Type: "string", Doc: "webhook: how raw_body is written: utf-8, base64 or, for a form, nothing"},
		{Name: "raw_headers", Type: "object", Doc: "webhook: all headers, such as X-Github-Event, but those that prove the sender"},
	},
}

// Begin turns the inputs of a run into outputs. Its node must have the id "begin".
//
// In: the run's inputs, declared in the form or not. A field is wrapped, {"value": v}, or bare.
// Out: one output per field, values as they came; the file descriptors of a file field are read
// into a list of texts, and JSON sent for a field of type object is decoded. A run started by a web
// request has one output per part of it.
//
// Defaults of the form are not applied here: whoever shows the form sends them. node_finished shows
// them among the inputs all the same.
//
// Source: RAGFlow agent/component/begin.py at 80a16e71 (behaviour read, written anew). Differs:
// bare values, JSON of objects and lists of files are accepted, and so is the mode "Dialog".
type Begin struct {
	Mode     string       `json:"mode" doc:"how the canvas is started; Dialog is another word for conversational" default:"conversational" enum:"conversational,task,Webhook,Dialog"`
	Prologue string       `json:"prologue" doc:"greeting that a client shows before the first turn"`
	Inputs   engine.Value `json:"inputs" doc:"form: field name -> {name, type, optional or required, options, value}"`
	Layout   string       `json:"layout_recognize" doc:"how the original reads pages of uploads; has no effect here" label:"Page layout" group:"advanced"`

	// What follows is read by the host that takes the request.
	Methods       engine.Value `json:"methods" doc:"webhook: list of HTTP methods; all without it" group:"webhook"`
	ContentTypes  engine.Value `json:"content_types" doc:"webhook: the Content-Type, or a list of them; any without it" group:"webhook"`
	Schema        engine.Value `json:"schema" doc:"webhook: {query, headers, body}, each {properties: {field: {type}}, required: [field]}" group:"webhook"`
	Security      engine.Value `json:"security" doc:"webhook: who may send: auth_type none, token, basic, jwt or hmac; required" group:"webhook"`
	ExecutionMode engine.Value `json:"execution_mode" doc:"webhook: Immediately answers at once, others when the run has ended" group:"webhook"`
	Response      engine.Value `json:"response" doc:"webhook: {status, body_template} of the answer at once" group:"webhook"`
}

// webhookMode is the mode in which a canvas is started by a web request.
const webhookMode = "Webhook"

// Run passes on what the caller gave.
func (b *Begin) Run(ctx context.Context, call *engine.Call) error {
	if b.Mode == webhookMode {
		for part, v := range call.Webhook().Fields() {
			if part == "input" {
				call.In("request", v)
				continue
			}
			call.Out(part, v)
		}
	}
	for name, field := range b.Inputs.Fields() {
		if v := field.Get("value"); !v.IsNull() {
			call.In(name, v) // shown, unless the caller sent another value
		}
	}
	return passFields(ctx, call, b.Inputs)
}

// Inline reports whether there is nothing to wait for: only uploads take time.
func (b *Begin) Inline() bool {
	for _, field := range b.Inputs.Fields() {
		if isFileField(engine.Null, field) {
			return false
		}
	}
	return true
}

// InputForm is the form as the canvas declares it.
func (b *Begin) InputForm() engine.Value { return formOf(b.Inputs) }

var (
	_ engine.Component = (*Begin)(nil)
	_ engine.Former    = (*Begin)(nil)
	_ engine.Inliner   = (*Begin)(nil)
)
