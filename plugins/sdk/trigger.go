package sdk

import "encoding/base64"

// Items is the output of a trigger: a plugin whose manifest says Trigger poll or webhook. A
// schedule of a canvas calls it, at its times or with requests, and a run of the canvas begins for
// each item.
//
// What a trigger keeps with Store, such as how far it has read, is written after the runs of its
// items are: an item that is given again, because the host died in between, begins no second run.
type Items struct {
	Items    []Item     `json:"items" doc:"events, for each of which a run begins"`
	Response *HookReply `json:"response,omitempty" doc:"answer to the request"`
}

// Item is an event for which a run begins.
type Item struct {
	// ID is the same for the same event, which begins one run only. A webhook may leave it out.
	ID     string         `json:"id,omitempty"`
	Query  string         `json:"query,omitempty"`  // the message of the user
	Inputs map[string]any `json:"inputs,omitempty"` // values of the form of Begin, by name
}

// Hook is the arguments of a webhook.
type Hook struct {
	Request Received `json:"request" doc:"what was sent to the address of the schedule"`
}

// Received is a request as it was sent.
type Received struct {
	Method     string            `json:"method"`
	URL        string            `json:"url"`     // path and query
	Query      map[string]string `json:"query"`   // the first value of each parameter
	Headers    map[string]string `json:"headers"` // by lower-case name; several values are joined with a comma
	Body       string            `json:"body,omitempty"`
	BodyBase64 string            `json:"body_base64,omitempty"` // in place of Body where that is not UTF-8
}

// Bytes is the body as it was sent, for signatures.
func (r Received) Bytes() []byte {
	if b, err := base64.StdEncoding.DecodeString(r.BodyBase64); err == nil && len(b) > 0 {
		return b
	}
	return []byte(r.Body)
}

// HookReply is the answer to the request of a webhook; without one it is 200 with an empty text. A
// proof that does not fit is the error Unauthorized, which is answered with 401.
type HookReply struct {
	Status      int    `json:"status,omitempty"`       // 200 to 599; 0 means 200
	ContentType string `json:"content_type,omitempty"` // text/plain by default, application/json, text/xml
	Body        string `json:"body,omitempty"`
}
