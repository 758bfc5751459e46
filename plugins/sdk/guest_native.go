//go:build !wasip1

package sdk

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fake is a host for tests outside of WebAssembly. Its zero value denies everything, like a host
// without grants; set the fields that the plugin under test uses.
type Fake struct {
	HTTP      func(Request) (*Response, error)
	Models    func(Chat) (Reply, error)
	Vectors   func(texts []string) ([][]float32, error)
	Values    map[string]string // keys and values; nil denies
	Variables map[string]any    // of the run; nil denies
	Settings  map[string]string
	// CancelAfter is the number of emits before the call is cancelled; 0 never.
	CancelAfter int

	Emitted []Emitted // emissions of the plugin
	Logged  []string
	kept    map[string][]byte
	bodies  [][]byte // of streams, by number less one; nil when closed
}

// Emitted is one piece a plugin emitted.
type Emitted struct {
	Kind string // answer, reasoning, progress or partial
	Data string // text, or JSON
}

// Call starts a call on the fake host.
func (f *Fake) Call() *Call {
	return &Call{callInfo: callInfo{ID: "test", Run: "run", Node: "Plugin:0", Attempt: 1, DeadlineMS: 30_000, Locale: "en"}, host: f}
}

// Invoke runs the registered plugin with a message of the contract and returns its message.
func (f *Fake) Invoke(message []byte) ([]byte, error) { return invoke(f, message) }

// Check runs the registered plugin's check of params on a message of the contract, {"params":
// {...}}.
func (f *Fake) Check(message []byte) error { return checkParams(message) }

// Describe returns the manifest of the registered plugin.
func Describe() ([]byte, error) { return describe() }

func (f *Fake) emit(kind int, data []byte) bool {
	kinds := [...]string{kindDelta: "answer", kindReasoning: "reasoning", kindProgress: "progress", kindPartial: "partial"}
	f.Emitted = append(f.Emitted, Emitted{kinds[kind], string(data)})
	return f.CancelAfter > 0 && len(f.Emitted) >= f.CancelAfter
}

func (f *Fake) log(_ Level, text string) { f.Logged = append(f.Logged, text) }

func (f *Fake) setting(name string) (string, bool) {
	v, ok := f.Settings[name]
	return v, ok
}

func (f *Fake) variable(name string) []byte { return f.kept[name] }

func (f *Fake) setVariable(name string, value []byte) {
	if f.kept == nil {
		f.kept = map[string][]byte{}
	}
	f.kept[name] = value
}

// ask handles one request like a host.
func (f *Fake) ask(request []byte) ([]byte, bool) {
	var in struct {
		Op   string          `json:"op"`
		Args json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal(request, &in); err != nil {
		return failed(Fail(InvalidArgument, "%v", err)), true
	}
	out, err := f.answer(in.Op, in.Args)
	if errors.Is(err, ErrCancelled) {
		return nil, false
	}
	if err != nil {
		return failed(err), true
	}
	b, err := json.Marshal(map[string]any{"ok": out})
	if err != nil {
		return failed(err), true
	}
	return b, true
}

func failed(err error) []byte {
	return []byte(`{"error":` + string(failure(err)) + `}`)
}

func (f *Fake) answer(op string, raw json.RawMessage) (any, error) {
	var a struct {
		URL, Method, Key, Name, Prefix string
		Headers                        map[string]string
		Body                           []byte `json:"body_base64"`
		Stream                         json.RawMessage
		Max                            int
		Texts                          []string
		Value                          any
		MS                             int64
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, Fail(InvalidArgument, "%v", err)
	}
	denied := Fail(Denied, "%s is not granted", op)
	switch {
	case op == "sleep":
		time.Sleep(time.Duration(a.MS) * time.Millisecond)
		return None{}, nil
	case op == "http.fetch" && f.HTTP != nil:
		res, err := f.HTTP(Request{URL: a.URL, Method: a.Method, Headers: a.Headers, Body: a.Body})
		if err != nil {
			return nil, err
		}
		out := map[string]any{"status": res.Status, "headers": res.Headers}
		if string(a.Stream) == "true" {
			f.bodies = append(f.bodies, append([]byte{}, res.Body...))
			out["stream"] = len(f.bodies)
		} else {
			out["body_base64"] = res.Body
		}
		return out, nil
	case op == "http.read" || op == "http.close":
		return f.piece(op, string(a.Stream), a.Max)
	case op == "llm.chat" && f.Models != nil:
		var q Chat
		if err := json.Unmarshal(raw, &q); err != nil {
			return nil, Fail(InvalidArgument, "%v", err)
		}
		return f.Models(q)
	case op == "embed" && f.Vectors != nil:
		v, err := f.Vectors(a.Texts)
		return map[string]any{"vectors": v}, err
	case strings.HasPrefix(op, "kv.") && f.Values != nil:
		return f.keyValue(op, a.Key, a.Prefix, a.Value)
	case strings.HasPrefix(op, "var.") && f.Variables != nil:
		v, found := f.Variables[a.Name]
		if op == "var.set" {
			f.Variables[a.Name] = a.Value
			return None{}, nil
		}
		return map[string]any{"found": found, "value": v}, nil
	}
	return nil, denied
}

// piece returns the next piece of a body, or closes it.
func (f *Fake) piece(op, stream string, most int) (any, error) {
	n, err := strconv.Atoi(stream)
	if open := err == nil && n > 0 && n <= len(f.bodies) && f.bodies[n-1] != nil; !open {
		if op == "http.close" {
			return None{}, nil
		}
		return nil, Fail(NotFound, "http.read: no stream %s is open", stream)
	}
	body := f.bodies[n-1]
	if op == "http.close" {
		f.bodies[n-1] = nil
		return None{}, nil
	}
	if most <= 0 {
		most = 64 << 10
	}
	size := min(most, len(body))
	if f.bodies[n-1] = body[size:]; size == len(body) {
		f.bodies[n-1] = nil
	}
	return map[string]any{"body_base64": body[:size], "done": size == len(body)}, nil
}

func (f *Fake) keyValue(op, key, prefix string, value any) (any, error) {
	switch op {
	case "kv.get":
		v, found := f.Values[key]
		return map[string]any{"found": found, "value": v}, nil
	case "kv.set":
		text, ok := value.(string)
		if !ok {
			return nil, Fail(InvalidArgument, "kv.set: value is not a string")
		}
		f.Values[key] = text
	case "kv.delete":
		delete(f.Values, key)
	case "kv.list":
		keys := []string{}
		for k := range f.Values {
			if strings.HasPrefix(k, prefix) {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		return map[string]any{"keys": keys}, nil
	}
	return None{}, nil
}
