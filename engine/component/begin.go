package component

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

var beginSpec = engine.Spec{
	Ignores: []string{
		"enablePrologue", "enable_tips", "tips",
		// Read by hosts that serve webhooks.
		"methods", "content_types", "schema", "security", "execution_mode", "response", "max_body_size",
	},
	Name:   "Begin",
	Title:  "Start",
	Search: []string{"trigger", "webhook", "api", "form", "greeting", "触发", "表单", "网络钩子", "接口"}, First: "prologue",
	Category: engine.CategoryConversation, Icon: "play", Role: engine.RoleStart,
	Doc: "The start of every canvas. Its outputs are the inputs of the run: form fields, or the parts of a web " +
		"request.",
	FromForm: beginFromForm,
	New:      func() engine.Component { return new(Begin) },
	Outputs: []engine.Field{
		{Name: "*", Type: "any", Doc: "each form field the caller passed, under its own name"},
		{Name: "query", Type: "object", Doc: "webhook: fields of the query listed in schema"},
		{Name: "headers", Type: "object", Doc: "webhook: headers listed in schema"},
		{Name: "body", Type: "object", Doc: "webhook: fields of the body listed in schema"},
		{Name: "raw_body", Type: "string", Doc: "webhook: the whole body as received, except that of a multipart form"},
		{
			Name: "raw_encoding", Type: "string",
			Doc: "webhook: encoding of raw_body: utf-8, base64 or, for a form, empty",
		},
		{
			Name: "raw_headers", Type: "object",
			Doc: "webhook: all headers, such as X-Github-Event, except those that authenticate the sender",
		},
	},
}

// Begin turns the inputs of a run into outputs. Its node must have the id "begin".
//
// In: the run's inputs, declared in the form or not. A field is wrapped, {"value": v}, or bare.
// Without inputs the query fills the only field, and a query that is an object the fields it names.
// Out: one output per field, values as they came; the file descriptors of a file field are read
// into a list of texts, and JSON sent for a field of type object is decoded. A run started by a web
// request has one output per part of it.
//
// Defaults of the form are not applied here: the client that shows the form sends them.
// node_finished lists them among the inputs nevertheless.
//
// Source: RAGFlow agent/component/begin.py at 80a16e71 (behaviour only). Differs: bare values, JSON
// of objects and lists of files are accepted, and so is the mode "Dialog".
type Begin struct {
	Mode      string       `json:"mode" label:"How it starts" doc:"who starts a run: a person in a chat, a form or the API, or a web request" options:"conversational=Chat|task=Form or API|Webhook=Webhook" accept:"conversational=Dialog" default:"conversational"`
	Prologue  string       `json:"prologue" label:"Greeting" doc:"shown before the first question" widget:"prompt" show:"mode=conversational"`
	Questions []string     `json:"questions" label:"Example questions" doc:"shown as buttons before the first question" show:"mode=conversational"`
	Inputs    engine.Value `json:"inputs" label:"Fields to ask for" doc:"values that a person or caller fills in before the run" shape:"name -> {name, type, optional or required, options, value}" widget:"fields" show:"mode!=Webhook"`
	Security  engine.Value `json:"security" label:"Who may send" doc:"how a sender proves who it is; without it everybody may start a run" shape:"{auth_type: none, token, basic, jwt or hmac, ...}" widget:"webhook" show:"mode=Webhook"`
	Layout    string       `json:"layout_recognize" label:"Page layout" doc:"page layout recognition in RAGFlow; has no effect here" hidden:"true"`

	// The following are read by the host that receives the request.
	Methods       engine.Value `json:"methods" label:"Methods" doc:"which requests start a run; all if none is chosen" widget:"checks" offer:"GET|POST|PUT|PATCH|DELETE|HEAD" show:"mode=Webhook"`
	ContentTypes  engine.Value `json:"content_types" label:"Body" doc:"the form of the request body" shape:"one Content-Type or a list" widget:"select" offer:"application/json=JSON|multipart/form-data=Form with files|application/x-www-form-urlencoded=Form|text/plain=Text|application/octet-stream=Bytes|=Anything" show:"mode=Webhook"`
	Schema        engine.Value `json:"schema" label:"Values to read" doc:"values of the request that later steps use" shape:"{query, headers, body}, each {properties: {field: {type}}, required: [field]}" widget:"request" show:"mode=Webhook"`
	ExecutionMode engine.Value `json:"execution_mode" label:"Answer" doc:"when the request is answered" section:"output" widget:"segment" offer:"Immediately=Right away|Streaming=With the result" show:"mode=Webhook" default:"Immediately"`
	Response      engine.Value `json:"response" label:"Reply" doc:"what an immediate answer contains" shape:"{status, body_template}" section:"output" widget:"members" show:"mode=Webhook&execution_mode=Immediately" members:"status:integer:200:399=HTTP status|body_template:text=Text"`
}

// webhookMode is the mode of a canvas that is started by a web request.
const webhookMode = "Webhook"

// Run sets the outputs from the inputs of the run.
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
			call.In(name, v) // listed, unless the caller sent another value
		}
	}
	given := call.RunInputs()
	if given.Len() == 0 && b.Mode != webhookMode {
		given = b.queried(call.Global("sys.query"))
	}
	return passFields(ctx, call, given, b.Inputs)
}

// queried returns the fields that a query fills where no inputs came: those that an object names,
// or the only field.
func (b *Begin) queried(query engine.Value) engine.Value {
	fields := engine.NewObject(b.Inputs.Len())
	if query.Kind() == engine.KindObject {
		for name, v := range query.Fields() {
			if _, declared := b.Inputs.Lookup(name); declared {
				fields.Set(name, v)
			}
		}
		return fields.Value()
	}
	for name, field := range b.Inputs.Fields() {
		if b.Inputs.Len() == 1 && query.Truthy() && !isFileField(engine.Null, field) {
			fields.Set(name, query)
		}
	}
	return fields.Value()
}

// Warnings reports a webhook that accepts all requests without authentication, or none.
func (b *Begin) Warnings() []engine.Diagnostic {
	if b.Mode != webhookMode {
		return nil
	}
	switch kind := b.Security.Get("auth_type").Text(); {
	case b.Security.Len() == 0:
		return []engine.Diagnostic{{
			Code: engine.CodeOpenWebhook, Param: "security",
			Message: "the webhook has no security section: everybody who knows its address starts runs",
		}}
	case kind != "" && kind != "none":
	case !isAnonymous(b.Security):
		return []engine.Diagnostic{{
			Code: engine.CodeClosedWebhook, Param: "security",
			Message: "the webhook has no authentication and does not allow anonymous requests: it refuses all",
		}}
	default:
		return []engine.Diagnostic{{
			Code: engine.CodeOpenWebhook, Param: "security",
			Message: "the webhook allows anonymous requests: everybody who knows its address starts runs",
		}}
	}
	return nil
}

// isAnonymous reports whether a webhook without authentication accepts requests.
func isAnonymous(security engine.Value) bool {
	allow := security.Get("allow_anonymous")
	return allow.True() || strings.EqualFold(allow.Text(), "true")
}

// Inline reports whether Run does not block: only uploads take time.
func (b *Begin) Inline() bool {
	for _, field := range b.Inputs.Fields() {
		if isFileField(engine.Null, field) {
			return false
		}
	}
	return true
}

// InputForm returns the form as the canvas declares it.
func (b *Begin) InputForm() engine.Value { return formOf(b.Inputs) }

var (
	_ engine.Component = (*Begin)(nil)
	_ engine.Former    = (*Begin)(nil)
	_ engine.Inliner   = (*Begin)(nil)
)
