package model

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// refusal is a failure that a server reports, in an error response or anywhere in another one.
type refusal struct {
	status int    // HTTP status, or the one that the response names; 0 if unknown
	text   string // the server's reason; "" without one
	code   string // the server's code and type
	param  string // parameter that the server names
}

func (r *refusal) Error() string { return r.text }

// quota reports whether the account has no quota left, so that a later call fails as well.
func (r *refusal) quota() bool {
	if soon.MatchString(r.text) { // the quota of a minute
		return false
	}
	return strings.Contains(r.code, "insufficient_quota") || strings.Contains(r.code, "billing") ||
		r.status == http.StatusPaymentRequired || noQuota.MatchString(r.code+" "+r.text)
}

var (
	noQuota = regexp.MustCompile(`(?i)exceeded your current quota|insufficient[_ ](quota|balance|credit|funds)|` +
		`balance is (too low|insufficient)|overdue|\barrearage\b|account is in good standing|out of credits|` +
		`daily request limit|余额不足|欠费`)
	soon = regexp.MustCompile(`(?i)\bretry in \d`)
)

// refusalOf returns the failure in an error response.
func refusalOf(status int, body []byte) *refusal {
	r := &refusal{status: status}
	if v, err := engine.ParseJSON(body); err == nil {
		r.read(v, 0)
	}
	if r.text == "" {
		r.text = firstWords(body)
	}
	return r
}

// reported returns the failure in a document of a response, nil if it is none.
func (d *document) reported() *refusal {
	v := d.value
	choice := v.Get("choices").At(0)
	inner := choice.Get("error")
	if inner.IsNull() {
		inner = v.Get("x_groq").Get("error")
	}
	base, _ := loose.Number(v.Get("base_resp").Get("status_code"))
	switch {
	case v.Get("error").Truthy(), v.Get("object").Str() == "error", d.event == "error", v.Get("error_msg").Str() != "":
	case base != 0: // MiniMax
		v = v.Get("base_resp")
	case inner.Truthy():
		v = engine.Object("error", inner)
	case choice.IsNull() && (v.Get("detail").Truthy() || v.Get("message").Str() != "" || v.Get("msg").Str() != "" ||
		v.Get("errors").Len() > 0):
	default:
		return nil
	}
	r := &refusal{}
	r.read(v, 0)
	if r.text == "" {
		r.text = v.JSON()
	}
	return r
}

// deepest bounds the nesting of errors in errors.
const deepest = 4

// read takes reason, code and status from the forms in which servers report errors.
func (r *refusal) read(v engine.Value, depth int) {
	if depth > deepest {
		return
	}
	switch v.Kind() {
	case engine.KindString:
		r.add(v.Str())
	case engine.KindList:
		for _, e := range v.Elements() {
			r.read(e, depth+1)
		}
	case engine.KindObject:
		r.readObject(v, depth)
	}
}

func (r *refusal) readObject(v engine.Value, depth int) {
	for _, name := range [...]string{"code", "type", "status", "error_code", "error_type"} {
		c := v.Get(name)
		if n, ok := loose.Number(c); ok && n >= 400 && n < 600 && r.status == 0 {
			r.status = int(n)
		} else if s := c.Str(); s != "" {
			r.code += " " + s
		}
	}
	if p := v.Get("param").Str(); p != "" && r.param == "" {
		r.param = p
	}
	where := ""
	for _, part := range v.Get("loc").Elements() {
		where += part.Text() + " "
	}
	before := r.text
	for _, name := range reasonMembers {
		part := v.Get(name)
		// A short word in error is followed by the reason in message.
		if !part.Truthy() || r.text != before && (name != "message" || v.Get("error").Str() == "") {
			continue
		}
		if s := part.Str(); s != "" {
			if inner, err := engine.ParseJSONText(s); err == nil && inner.Kind() == engine.KindObject {
				part = inner // what the server behind a gateway sent
			} else if where != "" {
				part = engine.String(where + s)
			}
		}
		r.read(part, depth+1)
	}
	r.readDetails(v, depth)
	if raw := v.Get("metadata").Get("raw"); raw.Truthy() { // the answer of the server behind a gateway
		text := raw.Text()
		if inner, err := engine.ParseJSONText(text); err == nil {
			cause := &refusal{}
			cause.read(inner, depth+1)
			if cause.text != "" {
				text = cause.text
			}
		}
		r.add(text)
	}
}

// reasonMembers are the members in which servers put a reason; the first one counts.
var reasonMembers = [...]string{
	"error", "errors", "message", "detail", "msg", "error_msg", "status_msg", "error_description", "fault",
	"faultstring", "Message", "title",
}

// maxDetails bounds the details of a failure that are read.
const maxDetails = 8

// readDetails adds the causes that accompany a general reason: invalid fields, and the sizes of a
// request and of a context.
func (r *refusal) readDetails(v engine.Value, depth int) {
	for i, d := range v.Get("details").Elements() {
		if i == maxDetails {
			break
		}
		if d.Get("loc").Len() > 0 || d.Get("msg").Str() != "" {
			r.read(engine.Object("loc", d.Get("loc"), "msg", d.Get("msg")), depth+1)
		}
		for k, field := range d.Get("fieldViolations").Elements() {
			if k < maxDetails {
				r.add(strings.TrimSpace(field.Get("field").Str() + " " + field.Get("description").Str()))
			}
		}
	}
	used, ok := loose.Number(v.Get("n_prompt_tokens"))
	most, known := loose.Number(v.Get("n_ctx"))
	if ok && known && !strings.Contains(r.text, strconv.FormatInt(used, 10)) {
		r.add(fmt.Sprintf("%d tokens of at most %d", used, most))
	}
}

// mostReason bounds the reason of a failure, in bytes; what is shown is shorter.
const mostReason = 8 << 10

func (r *refusal) add(text string) {
	text = text[:min(len(text), mostReason)]
	if text == "" || len(r.text) >= mostReason || strings.Contains(r.text, text) {
		return
	}
	if r.text != "" {
		r.text += ": "
	}
	r.text += text
}

var (
	titleTag = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	hidden   = regexp.MustCompile(`(?is)<(script|style)[^>]*>.*?</(script|style)>|<!--.*?-->`)
	anyTag   = regexp.MustCompile(`(?s)<[^>]*>`)
)

// firstWords returns the first line of a text; of a web page its title or its first line of text.
func firstWords(body []byte) string {
	if t := bytes.TrimSpace(body); bytes.HasPrefix(t, []byte("<")) {
		if m := titleTag.FindSubmatch(body); m != nil && len(bytes.TrimSpace(m[1])) > 0 {
			return oneLine(html.UnescapeString(string(m[1])))
		}
		body = anyTag.ReplaceAll(hidden.ReplaceAll(body, nil), []byte("\n"))
		body = []byte(html.UnescapeString(string(body)))
	}
	for line := range bytes.Lines(body) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line)
		}
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
