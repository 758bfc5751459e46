package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// address builds a URL with values in it. The literal parts of the canvas stay as they are; a value
// from outside is escaped, so that it cannot add a path segment or a query field.
type address struct {
	text    strings.Builder
	segment int  // start of the current path segment
	filled  bool // it contains a value
}

// render returns the address of the request.
func (v *Invoke) render(ctx context.Context, call *engine.Call) (string, error) {
	var a address
	for lit, ref := range v.URL.Parts {
		if ref < 0 {
			if err := a.write(call.MarkSecrets(engine.String(lit)).Str()); err != nil {
				return "", err
			}
			continue
		}
		if err := a.put(ctx, call, &v.URL.Refs()[ref]); err != nil {
			return "", err
		}
	}
	if err := a.endSegment(); err != nil {
		return "", err
	}
	return a.text.String(), nil
}

// put appends the value of a reference.
func (a *address) put(ctx context.Context, call *engine.Call, r *engine.Ref) error {
	value, err := call.Resolve(ctx, r)
	if err != nil {
		return err
	}
	text, err := call.TextOf(ctx, r, engine.TextStyle{})
	if err != nil {
		return err
	}
	if err := call.CheckText(int64(a.text.Len()) + 3*int64(len(text))); err != nil {
		return err
	}
	if call.Defines(r, value) {
		return a.write(call.MarkSecrets(engine.String(text)).Str())
	}
	switch a.part() {
	case inPath:
		a.filled = true
		a.text.WriteString(percent(text, isPlainForm))
	case inField:
		a.text.WriteString(percent(text, isPlainForm))
	case inQuery:
		a.text.WriteString(percent(text, isQueryByte))
	default:
		return a.write(text)
	}
	return nil
}

// write appends a literal part.
func (a *address) write(text string) error {
	for _, c := range []byte(text) {
		if c == '/' || c == '?' || c == '#' {
			if err := a.endSegment(); err != nil {
				return err
			}
			a.segment = a.text.Len() + 1
		}
		a.text.WriteByte(c)
	}
	return nil
}

// endSegment refuses a path segment that a value has turned into . or ...
func (a *address) endSegment() error {
	if !a.filled {
		return nil
	}
	a.filled = false
	part := strings.ReplaceAll(strings.ToLower(a.text.String()[a.segment:]), "%2e", ".")
	if part == "." || part == ".." {
		return fmt.Errorf("url: a value makes %q a path segment, which would change the path", part)
	}
	return nil
}

// urlPart is the part of an address that the next value is in.
type urlPart int

const (
	inBase  urlPart = iota // scheme and host, or all of the address
	inPath                 // after the host
	inQuery                // a query, before or between fields
	inField                // the value of a field of the query
)

func (a *address) part() urlPart {
	s := a.text.String()
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	if _, query, ok := strings.Cut(s, "?"); ok {
		if field := query[strings.LastIndexByte(query, '&')+1:]; strings.Contains(field, "=") {
			return inField
		}
		return inQuery
	}
	if strings.Contains(s, "#") {
		return inQuery
	}
	if strings.Contains(s, "/") {
		return inPath
	}
	return inBase
}

// isQueryByte reports whether a byte is allowed in a query, separators and escapes included.
func isQueryByte(c byte) bool {
	return isPlainForm(c) || strings.IndexByte("!$&'()*+,;=:@/?%", c) >= 0
}

// percent writes all bytes but unreserved ones as %XX.
func percent(s string, plain func(c byte) bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		writePercent(&b, s[i], plain(s[i]))
	}
	return b.String()
}

func writePercent(b *strings.Builder, c byte, plain bool) {
	if plain {
		b.WriteByte(c)
		return
	}
	const hex = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(hex[c>>4])
	b.WriteByte(hex[c&15])
}
