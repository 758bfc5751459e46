// Package envelope writes answers as RAGFlow's API does: a JSON object with a code, most with a
// message and data, and HTTP status 200 for most failures. codes.go has the number of each kind of
// failure.
package envelope

import (
	"net/http"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
)

// Messages of failures in RAGFlow's words.
const (
	NotOwner      = "Only owner of canvas authorized for this operation."
	NotOwnerNewer = "Only the owner of the agent is authorized for this operation."
	NotAccess     = "Make sure you have permission to access the agent."
	NoAgent       = "Agent not found."
)

// OK answers {code, message, data}; data may be null.
func OK(data engine.Value) api.Response { return With(engine.String("success"), data) }

// With is [OK] with another message; more are additional members, as names and values.
func With(message, data engine.Value, more ...any) api.Response {
	members := append([]any{"code", Success, "message", message, "data", data}, more...)
	return api.Sorted(http.StatusOK, engine.Object(members...))
}

// Result answers {code, data}, and {code} alone for null; more are additional members, as names and
// values.
func Result(data engine.Value, more ...any) api.Response {
	members := []any{"code", Success}
	if !data.IsNull() {
		members = append(members, "data", data)
	}
	return api.Sorted(http.StatusOK, engine.Object(append(members, more...)...))
}

// Fail answers a failure. It is an [api.ErrorForm].
func Fail(r *api.Request, f *api.Failure, _ error) {
	api.SetRetryAfter(r.Writer.Header(), f.After)
	status := f.Status
	if status == 0 {
		status = http.StatusOK
	}
	_ = api.Sorted(status, Value(f)).Write(r) // fails only when the client has disconnected
}

// Value is a failure as JSON.
func Value(f *api.Failure) engine.Value {
	v := engine.Object("code", Code(f.Kind), "message", f.Message)
	if f.HasData {
		v = v.With("data", f.Data)
	}
	return v
}

// Unrouted answers an unknown path, and with known one that has other methods.
func Unrouted(r *api.Request, path string, known bool) {
	if known {
		Fail(r, api.Failed(api.KindBadRequest, "<MethodNotAllowed '405: Method Not Allowed'>"), nil)
		return
	}
	f := &api.Failure{Kind: api.KindNoResource, Message: "Not Found: " + path, HasData: true}
	v := Value(f).With("error", engine.String("Not Found"))
	_ = api.Sorted(http.StatusNotFound, v).Write(r) // fails only when the client has disconnected
}
