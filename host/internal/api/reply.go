package api

import (
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// ok answers {code, message, data}; data may be null.
func (c *call) ok(data engine.Value) error {
	return c.send(http.StatusOK, engine.Object("code", codeOK, "message", "success", "data", data))
}

// result answers {code, data}, and {code} alone for null: the other envelope.
func (c *call) result(data engine.Value) error {
	b := engine.NewObject(2).Set("code", engine.Int(codeOK))
	if !data.IsNull() {
		b.Set("data", data)
	}
	return c.send(http.StatusOK, b.Value())
}

// fail answers a failure.
func (c *call) fail(f *failure) {
	setRetryAfter(c.w.Header(), f.after)
	status := f.status
	if status == 0 {
		status = http.StatusOK
	}
	_ = c.send(status, f.value()) // the client is gone when this fails
}

// value is the failure in the dialects' form.
func (f *failure) value() engine.Value {
	b := engine.NewObject(3).Set("code", engine.Int(int64(f.code))).Set("message", engine.String(f.message))
	if f.hasData {
		b.Set("data", f.data)
	}
	return b.Value()
}

func (c *call) send(status int, v engine.Value) error {
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	body := appendSorted(nil, v)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(status)
	_, err := c.w.Write(body)
	if err != nil {
		c.left = true
	}
	return nil
}

// appendSorted writes JSON as the original does: keys sorted, no spaces, what
// is not ASCII escaped. Documents under "dsl" keep their order, which means
// something to a canvas.
func appendSorted(dst []byte, v engine.Value) []byte {
	switch v.Kind() {
	case engine.KindObject:
		keys := make([]string, 0, v.Len())
		for k := range v.Fields() {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		dst = append(dst, '{')
		for i, k := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendASCII(dst, engine.AppendQuoted(nil, k))
			dst = append(dst, ':')
			if k == "dsl" {
				dst = appendASCII(dst, v.Get(k).AppendJSON(nil))
			} else {
				dst = appendSorted(dst, v.Get(k))
			}
		}
		return append(dst, '}')
	case engine.KindList:
		dst = append(dst, '[')
		for i, x := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendSorted(dst, x)
		}
		return append(dst, ']')
	}
	return appendASCII(dst, v.AppendJSON(nil))
}

// appendASCII escapes what is not ASCII in JSON text; outside of strings there
// is nothing of the kind.
func appendASCII(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	unit := func(u rune) {
		dst = append(dst, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			dst = append(dst, text[0])
			text = text[1:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if r >= 0x10000 {
			r -= 0x10000
			unit(0xD800 + r>>10)
			unit(0xDC00 + r&0x3FF)
			continue
		}
		unit(r)
	}
	return dst
}

// httpDate is a time in Unix milliseconds, cut to seconds, as an HTTP date.
func httpDate(ms int64) engine.Value {
	return engine.String(time.UnixMilli(ms).UTC().Format(http.TimeFormat))
}

// setTimes adds the four time members of a row.
func setTimes(b *engine.ObjectBuilder, created, updated int64) {
	b.Set("create_time", engine.Int(created)).Set("create_date", httpDate(created))
	b.Set("update_time", engine.Int(updated)).Set("update_date", httpDate(updated))
}

// orNull is a text, or null for none.
func orNull(s string) engine.Value {
	if s == "" {
		return engine.Null
	}
	return engine.String(s)
}

// document is stored JSON as a value, or as text when it is none.
func document(data []byte) engine.Value {
	if len(data) == 0 {
		return engine.Null
	}
	v, err := engine.ParseJSON(data)
	if err != nil {
		return engine.String(string(data))
	}
	return v
}
