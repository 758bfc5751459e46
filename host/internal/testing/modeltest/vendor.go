package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Reply is an answer of a model, in no vendor's form.
type Reply struct {
	Thought   string
	Signature string // of Thought, or of the first call; what must come back
	Redacted  string // reasoning that only the vendor can read
	Text      string
	Calls     []Call
	Finish    Finish
	Why       string // what the server adds to Finish
}

// Finish is the reason for which an answer ended.
type Finish string

// The reasons of replies.
const (
	Done      Finish = ""
	Length    Finish = "length"
	Refused   Finish = "refused"
	Paused    Finish = "paused"    // the rest comes with another request
	Malformed Finish = "malformed" // the model failed to write a call
)

// Tokens of each reply: those of the request that are neither read from nor written to a cache,
// that are read and that are written, and those of the text and of the reasoning.
const (
	FreshTokens   = 9
	CachedTokens  = 4
	WrittenTokens = 2
	TextTokens    = 3
	ThoughtTokens = 5
)

// Form is the API of a vendor.
type Form struct {
	Name string // as the configuration of a provider names it
	// Base is the path of its base URL.
	Base string

	// check decodes a request strictly, and reports whether a stream is requested.
	check func(r *http.Request, body []byte) (streamed bool, err error)
	// write returns a reply in the form of the vendor.
	write func(reply Reply, streamed bool) string
	// stream is the media type of streams, if they are not server-sent events.
	stream string
}

// Forms returns the APIs of vendors.
func Forms() []Form { return []Form{anthropicForm, geminiForm, ollamaForm, responsesForm, bedrockForm} }

// FormOf returns the form with a name.
func FormOf(name string) Form {
	for _, f := range Forms() {
		if f.Name == name {
			return f
		}
	}
	panic("no form " + name)
}

// Vendor plays the server of a vendor. It answers a request that its vendor would refuse with
// status 400 and the reason. It is safe for concurrent use.
type Vendor struct {
	*httptest.Server
	form Form
	next func(n int, r *Request) any // a Reply or an Answer; n counts from 0

	mu       sync.Mutex
	requests []Request
	faults   []error
}

// NewVendor starts a server that answers request n by next, with a [Reply] or an [Answer]. The
// caller closes it.
func NewVendor(form Form, next func(n int, r *Request) any) *Vendor {
	v := &Vendor{form: form, next: next}
	v.Server = httptest.NewServer(v)
	return v
}

// Saying returns replies in order; the last one is repeated.
func Saying(replies ...any) func(int, *Request) any {
	return func(n int, _ *Request) any { return replies[min(n, len(replies)-1)] }
}

// BaseURL returns the address for the configuration of a provider.
func (v *Vendor) BaseURL() string { return v.URL + v.form.Base }

// Requests returns the requests so far.
func (v *Vendor) Requests() []Request {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]Request(nil), v.requests...)
}

// Faults returns why requests so far were refused as invalid.
func (v *Vendor) Faults() []error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]error(nil), v.faults...)
}

// ServeHTTP answers a request.
func (v *Vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	in := Request{Path: r.URL.RequestURI(), Header: r.Header, Raw: string(raw)}
	if err == nil {
		err = json.Unmarshal(raw, &in.Body)
	}
	streamed := false
	if err == nil {
		streamed, err = v.form.check(r, raw)
	}
	v.mu.Lock()
	n := len(v.requests)
	v.requests = append(v.requests, in)
	if err != nil {
		v.faults = append(v.faults, err)
	}
	v.mu.Unlock()
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%s}}`, quoted("invalid request: "+err.Error()))
		return
	}
	answer, ok := v.next(n, &in).(Answer)
	if !ok {
		answer = Answer{Body: v.form.write(v.next(n, &in).(Reply), streamed)}
		if streamed && v.form.stream != "" {
			answer.Header = map[string]string{"Content-Type": v.form.stream}
		}
	}
	(&Server{}).write(w, r, answer)
}

// strictly decodes JSON without unknown members.
func strictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// quoted returns a string as JSON.
func quoted(s string) string { return `"` + inside(s) + `"` }

// halves returns a text in two pieces.
func halves(s string) (first, second string) {
	at := len(s) / 2
	for at < len(s) && s[at]&0xC0 == 0x80 {
		at++
	}
	return s[:at], s[at:]
}
