package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Response is the answer to a request. An error is answered in its place when nothing of it has
// been sent.
type Response interface {
	Write(r *Request) error
}

// ResponseFunc is a response that a function writes.
type ResponseFunc func(r *Request) error

// Write calls the function.
func (f ResponseFunc) Write(r *Request) error { return f(r) }

// Sorted answers a value as JSON with sorted keys, as RAGFlow writes it.
func Sorted(status int, v engine.Value) Response {
	return ResponseFunc(func(r *Request) error {
		h := r.Writer.Header()
		h.Set("Content-Type", "application/json")
		body := appendSorted(nil, v)
		h.Set("Content-Length", strconv.Itoa(len(body)))
		r.write(status, body)
		return nil
	})
}

// JSON answers a Go value.
func JSON(status int, v any) Response {
	return ResponseFunc(func(r *Request) error {
		body, err := json.Marshal(v)
		code := status
		if err != nil {
			r.api.cfg.Logger.Error("answer cannot be written", "route", r.Route.Path, "err", err)
			code = http.StatusInternalServerError
			body = []byte(`{"error":{"code":"internal","message":"the answer cannot be written"}}`)
		}
		r.Writer.Header().Set("Content-Type", "application/json; charset=utf-8")
		r.write(code, body)
		return nil
	})
}

// Raw answers bytes of a content type.
func Raw(status int, contentType string, body []byte) Response {
	return ResponseFunc(func(r *Request) error {
		r.Writer.Header().Set("Content-Type", contentType)
		r.write(status, body)
		return nil
	})
}

// Plain answers a text.
func Plain(text string) Response {
	return Raw(http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

// NoContent answers nothing.
var NoContent Response = ResponseFunc(func(r *Request) error {
	r.Writer.WriteHeader(http.StatusNoContent)
	return nil
})

// write sends a whole answer.
func (r *Request) write(status int, body []byte) {
	r.Writer.WriteHeader(status)
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return
	}
	if _, err := r.Writer.Write(body); err != nil {
		r.left = true
	}
}

// HTTPDate is a time in Unix milliseconds, cut to seconds, as an HTTP date.
func HTTPDate(ms int64) engine.Value {
	return engine.String(time.UnixMilli(ms).UTC().Format(http.TimeFormat))
}

// SetTimes adds the four time members of a row.
func SetTimes(b *engine.ObjectBuilder, created, updated int64) {
	b.Set("create_time", engine.Int(created)).Set("create_date", HTTPDate(created))
	b.Set("update_time", engine.Int(updated)).Set("update_date", HTTPDate(updated))
}

// OrNull is a text, or null for none.
func OrNull(s string) engine.Value {
	if s == "" {
		return engine.Null
	}
	return engine.String(s)
}

// DocumentOf is stored JSON as a value, or as text when it is not JSON.
func DocumentOf(data []byte) engine.Value {
	if len(data) == 0 {
		return engine.Null
	}
	v, err := engine.ParseJSON(data)
	if err != nil {
		return engine.String(string(data))
	}
	return v
}
