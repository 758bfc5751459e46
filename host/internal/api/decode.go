package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Errors of [ReadJSON].
var (
	ErrNoBody  = errors.New("the request has no body")
	ErrBadJSON = errors.New("the body is not JSON")
)

// ReadJSON reads the body of a route with OwnBody, whatever its Content-Type; an object becomes
// r.Body as well. Errors: [ErrNoBody], [ErrBadJSON], or a [Failure] when the body did not arrive or
// is too large.
func ReadJSON(r *Request) (engine.Value, error) {
	text, err := r.ReadText(r.MaxBody())
	if err != nil {
		return engine.Null, err
	}
	if strings.TrimSpace(text) == "" {
		return engine.Null, ErrNoBody
	}
	v, err := r.Parse(text)
	if f := (*Failure)(nil); errors.As(err, &f) {
		return engine.Null, err
	}
	if err != nil {
		return engine.Null, fmt.Errorf("%w: %w", ErrBadJSON, err)
	}
	if v.Kind() == engine.KindObject {
		r.Body.Value, r.Body.Length = v, len(text)
	}
	return v, nil
}

// Decode reads the body into a struct of our own API; what it does not know is
// refused, so that a misspelt member is noticed.
func (r *Request) Decode(into any) error {
	if r.Body.Length > app.LargeDocument {
		if err := r.ReserveBody(3 * int64(r.Body.Length)); err != nil { // written, read, and in the struct
			return err
		}
	}
	d := json.NewDecoder(bytes.NewReader(r.Body.AppendJSON(make([]byte, 0, r.Body.Length))))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return app.BadArgument("%s", DecodeProblem(err, ""))
	}
	return nil
}

// DecodeProblem returns the text of an error of encoding/json without names of Go types. The member
// within precedes the names of its members.
func DecodeProblem(err error, within string) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return WithoutGoNames(strings.TrimPrefix(err.Error(), "json: "))
	}
	name := strings.Trim(within+"."+wrong.Field, ".")
	return fmt.Sprintf("argument %s must be %s, not %s", name, acceptedFor(wrong.Type), jsonWord(wrong.Value))
}

// acceptedFor returns the name of the JSON kind that a Go type accepts.
func acceptedFor(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	}
	return "an object"
}

// jsonWord translates a kind as encoding/json names it into the words of [aKind].
func jsonWord(value string) string {
	switch kind, number, _ := strings.Cut(value, " "); {
	case number != "":
		return number
	case kind == "bool":
		return "true or false"
	case kind == "array":
		return "a list"
	case kind == "object":
		return "an object"
	default:
		return "a " + kind
	}
}

// aTime is the time that errors show as an example.
var aTime = time.UnixMilli(0).UTC().Format(time.RFC3339)

// quotedText matches the output of %q.
const quotedText = `("(?:[^"\\]|\\.)*")`

// goTexts replaces errors of Go's packages that name types and functions.
var goTexts = []struct {
	pattern *regexp.Regexp
	plain   string
}{{
	regexp.MustCompile(`(?:json: )?cannot unmarshal (\S+)(?: \S+)? into Go struct field \w*\.(\S+) of type \S+`),
	`argument $2 cannot be of the kind $1`,
}, {
	regexp.MustCompile(`(?:json: )?cannot unmarshal (\S+)(?: \S+)? into Go value of type \S+`),
	`a value of the kind $1 is not accepted here`,
}, {
	regexp.MustCompile(`strconv\.\w+: parsing ` + quotedText + `: value out of range`), `$1 is out of range`,
}, {
	regexp.MustCompile(`strconv\.\w+: parsing ` + quotedText + `: [a-z ]+`), `$1 is not accepted here`,
}, {
	regexp.MustCompile(`Time\.UnmarshalJSON: input is not a JSON string`), `a time must be text such as ` + aTime,
}, {
	regexp.MustCompile(`parsing time "(?:\\"|")?((?:[^"\\])*)(?:\\"|")*" as .*`), `a time must look like ` + aTime + `, not "$1"`,
}, {
	regexp.MustCompile(`parsing time ` + quotedText + ` as .*`), `a time must look like ` + aTime,
}, {
	regexp.MustCompile(`\bjson: `), ``,
}, {
	regexp.MustCompile(`\*?\b(?:url|net|http|json|os|fs|io|time|strconv|errors|tls|x509|reflect|syscall)\.[A-Z]\w*(?:Error)?\b`), `error`,
}}

// WithoutGoNames is an error without the names of Go's types and functions.
func WithoutGoNames(text string) string {
	for _, g := range goTexts {
		text = g.pattern.ReplaceAllString(text, g.plain)
	}
	return text
}

// plain is a failure whose message names no types of Go; f itself may be shared.
func (f *Failure) plain() *Failure {
	text := WithoutGoNames(f.Message)
	if text == f.Message {
		return f
	}
	copied := *f
	copied.Message = text
	return &copied
}
