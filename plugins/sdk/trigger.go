package sdk

import "encoding/base64"

// Items is the output of a trigger: a plugin with Trigger poll or webhook in its manifest. A
// schedule of a canvas calls it, at its times or with requests, and each item starts a run of the
// canvas.
//
// Values that a trigger stores with Store, such as its position, are written together with the runs
// of its items: an item that is returned again, because the host crashed in between, does not start
// a second run.
type Items struct {
	Items    []Item     `json:"items,omitempty" doc:"events, for each of which a run begins"`
	Response *HookReply `json:"response,omitempty" doc:"answer to the request"`
}

// Item is an event that starts a run.
type Item struct {
	// ID is the same for the same event, which starts one run only. A webhook may omit it.
	ID     string         `json:"id,omitempty"`
	Query  string         `json:"query,omitempty"`  // the message of the user
	Inputs map[string]any `json:"inputs,omitempty"` // values of the form of Begin, by name
}

// Hook are the arguments of a webhook.
type Hook struct {
	Request Received `json:"request" doc:"what was sent to the address of the schedule"`
}

// Received is an unmodified request.
type Received struct {
	Method     string            `json:"method"`
	URL        string            `json:"url"`     // path and query
	Query      map[string]string `json:"query"`   // the first value of each parameter
	Headers    map[string]string `json:"headers"` // by lower-case name; several values are joined with a comma
	Body       string            `json:"body,omitempty"`
	BodyBase64 string            `json:"body_base64,omitempty"` // instead of Body where that is not UTF-8
}

// Bytes returns the unmodified body, for signatures.
func (r Received) Bytes() []byte {
	if b, err := base64.StdEncoding.DecodeString(r.BodyBase64); err == nil && len(b) > 0 {
		return b
	}
	return []byte(r.Body)
}

// HookReply is the response to the request of a webhook; the default is 200 with an empty body. If
// the sender is not authenticated, return the error Unauthorized, which results in the status 401.
type HookReply struct {
	Status      int    `json:"status,omitempty"`       // 200 to 599; 0 means 200
	ContentType string `json:"content_type,omitempty"` // text/plain by default, application/json, text/xml
	Body        string `json:"body,omitempty"`
}
