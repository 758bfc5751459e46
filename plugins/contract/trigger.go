package contract

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
)

// TriggerKind determines when a plugin that starts runs is called. Such a plugin is not a node: a
// schedule of a canvas names it, and each item of its output starts a run of the canvas.
type TriggerKind string

// The kinds of triggers.
const (
	TriggerPoll    TriggerKind = "poll"    // at the times of its schedule
	TriggerWebhook TriggerKind = "webhook" // with each request to the address of its schedule
)

// Limits of the output of a trigger, besides those of every output.
const (
	MaxTriggerItems    = 100
	maxItemID          = 256
	maxTriggerResponse = 64 << 10 // bytes of the body of a response
)

// Triggered is the result of a call of a trigger.
type Triggered struct {
	Items    []TriggerItem
	Response TriggerResponse // to the request of a webhook
}

// TriggerItem is an event that starts a run.
type TriggerItem struct {
	// ID is the same for the same event, which starts one run only. Without an ID, which a
	// webhook may omit, each item starts a run.
	ID     string
	Query  string
	Inputs engine.Value // values of the form of Begin by name; an object, or null
}

// TriggerResponse is the answer to the request of a webhook.
type TriggerResponse struct {
	Status      int // 200 to 599
	ContentType string
	Body        string
}

// responseTypes are the content types of responses: none that a browser renders as a page.
var responseTypes = []string{"application/json", "text/plain", "text/xml", "application/xml"}

// ReadTriggered reads the outputs of a trigger. Its error has the code BadOutput.
func (m *Manifest) ReadTriggered(outputs engine.Value) (Triggered, error) {
	var err error
	o := readObject("outputs", outputs, &err)
	t := Triggered{Response: readResponse(o.object("response"))}
	items := o.member("items", engine.KindList)
	if n := items.Len(); n > MaxTriggerItems {
		o.fail("items", "%d items, allowed are %d in one call; give the others in the next", n, MaxTriggerItems)
		items = engine.Null
	}
	for i := range items.Len() {
		t.Items = append(t.Items, m.readItem(readObject(fmt.Sprintf("outputs.items[%d]", i), items.At(i), &err)))
	}
	if err == nil {
		err = t.Response.check()
	}
	if err != nil {
		return Triggered{}, Errorf(BadOutput, "%v", err).At(m.Name, "")
	}
	return t, nil
}

func (m *Manifest) readItem(o *object) TriggerItem {
	item := TriggerItem{ID: o.text("id"), Query: o.text("query"), Inputs: o.member("inputs", engine.KindObject)}
	switch {
	case item.ID == "" && m.Trigger != TriggerWebhook:
		o.fail("id", "missing; the same event has the same id")
	case len(item.ID) > maxItemID:
		o.fail("id", "%d bytes, allowed are %d", len(item.ID), maxItemID)
	}
	return item
}

func readResponse(o *object) TriggerResponse {
	r := TriggerResponse{Status: 200, ContentType: "text/plain"}
	if o == nil {
		return r
	}
	if !o.v.Get("status").IsNull() {
		r.Status = int(o.whole("status"))
	}
	if kind := o.text("content_type"); kind != "" {
		r.ContentType = kind
	}
	r.Body = o.text("body")
	return r
}

func (r *TriggerResponse) check() error {
	switch {
	case r.Status < 200 || r.Status > 599:
		return fmt.Errorf("outputs.response.status: %d, allowed are 200 to 599", r.Status)
	case !slices.Contains(responseTypes, r.ContentType):
		return fmt.Errorf("outputs.response.content_type: %q (one of %s)", short(r.ContentType),
			strings.Join(responseTypes, ", "))
	case len(r.Body) > maxTriggerResponse:
		return fmt.Errorf("outputs.response.body: %d bytes, allowed are %d", len(r.Body), maxTriggerResponse)
	}
	return nil
}

// TriggerRequest is a request to the address of a webhook.
type TriggerRequest struct {
	Method  string
	URL     string            // path and query, as they were sent
	Query   map[string]string // the first value of each parameter
	Headers map[string]string // by lower-case name; several values are joined with a comma
	Body    []byte            // unmodified, for signatures
}

// Arguments returns the arguments of the plugin: {request: {method, url, query, headers, body}},
// with body_base64 instead of body for one that is not UTF-8.
func (r TriggerRequest) Arguments() engine.Value {
	request := engine.Object("method", r.Method, "url", r.URL, "query", textObject(r.Query),
		"headers", textObject(r.Headers))
	if utf8.Valid(r.Body) {
		return engine.Object("request", request.With("body", engine.String(string(r.Body))))
	}
	encoded := base64.StdEncoding.EncodeToString(r.Body)
	return engine.Object("request", request.With("body_base64", engine.String(encoded)))
}

// textObject returns an object of strings, sorted by name.
func textObject(m map[string]string) engine.Value {
	b := engine.NewObject(len(m))
	for _, name := range stable.Strings(slices.Collect(maps.Keys(m))) {
		b.Set(name, engine.String(m[name]))
	}
	return b.Value()
}
