package sdk_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/easel-canvas/easel/plugins/sdk"
)

type settings struct {
	Units string  `json:"units" enum:"c,f" default:"c" doc:"scale"`
	From  string  `json:"from,omitempty" ref:"true"`
	Limit int     `json:"limit,omitempty" min:"1" max:"5"`
	Deep  []inner `json:"deep,omitempty"`
}

type inner struct {
	On   *bool          `json:"on"`
	More map[string]any `json:"more,omitempty"`
	Any  any            `json:"any,omitempty"`
}

type args struct {
	City string `json:"city" doc:"City name"`
}

type out struct {
	Text string  `json:"text"`
	Temp float64 `json:"temp"`
}

func greet(c *sdk.Call, p settings, a args) (out, error) {
	if a.City == "" {
		return out{}, sdk.Fail(sdk.InvalidArgument, "city is empty")
	}
	c.Attach(sdk.Artifact{Name: "map.png", MIME: "image/png", Ref: "a1"})
	c.Cite(sdk.Citation{ID: "p1", Content: "A passage."})
	c.Used(sdk.Usage{PromptTokens: 1})
	if err := c.Emit("Hello"); err != nil {
		return out{}, err
	}
	return out{Text: a.City + " " + p.Units, Temp: 3}, nil
}

func register() {
	sdk.Register(sdk.Manifest{Name: "greet", Version: "1.0.0", Description: "Greets."}, greet)
	sdk.Check(func(p settings) error {
		if p.Limit == 3 {
			return errors.New("not three")
		}
		return nil
	})
}

// same compares JSON texts.
func same(t *testing.T, want, got string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(want), &a), json.Unmarshal([]byte(got), &b)); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("want %s\n got %s", want, got)
	}
}

func TestManifestComesFromTypes(t *testing.T) {
	register()
	got, err := sdk.Describe()
	if err != nil {
		t.Fatal(err)
	}
	same(t, `{"abi":1,"name":"greet","version":"1.0.0","description":"Greets.",
		"params":{"type":"object","properties":{
			"units":{"type":"string","description":"scale","enum":["c","f"],"default":"c"},
			"from":{"type":"string","x-easel-ref":true},
			"limit":{"type":"integer","minimum":1,"maximum":5},
			"deep":{"type":"array","items":{"type":"object","properties":{"on":{"type":"boolean"},"more":{"type":"object"},"any":{}}}}}},
		"arguments":{"type":"object","properties":{"city":{"type":"string","description":"City name"}},"required":["city"]},
		"outputs":{"type":"object","properties":{"text":{"type":"string"},"temp":{"type":"number"}},"required":["text","temp"]}}`, string(got))
}

// TestContract reads the golden messages of the contract.
func TestContract(t *testing.T) {
	register()
	files, err := filepath.Glob("../contract/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden messages: %v", err)
	}
	for _, file := range files {
		kind, _, _ := strings.Cut(filepath.Base(file), ".")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var g struct {
			Valid   bool
			Message json.RawMessage
		}
		if err := json.Unmarshal(raw, &g); err != nil {
			t.Fatal(err)
		}
		if !g.Valid {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			switch kind {
			case "input":
				_, err := (&sdk.Fake{}).Invoke(g.Message)
				if err != nil && !sdk.IsCode(err, sdk.InvalidArgument) {
					t.Error(err)
				}
			case "manifest":
				var m sdk.Manifest
				if err := json.Unmarshal(g.Message, &m); err != nil || m.Name == "" {
					t.Errorf("%v in %s", err, g.Message)
				}
			case "error":
				var e sdk.Error
				if err := json.Unmarshal(g.Message, &e); err != nil || e.Code == "" {
					t.Errorf("%v in %s", err, g.Message)
				}
			}
		})
	}
}

func TestInvoke(t *testing.T) {
	register()
	var f sdk.Fake
	got, err := f.Invoke([]byte(`{"abi":1,"call":{"id":"1"},"params":{"units":"f"},"arguments":{"city":"Oslo"}}`))
	if err != nil {
		t.Fatal(err)
	}
	same(t, `{"outputs":{"text":"Oslo f","temp":3},"artifacts":[{"name":"map.png","mime":"image/png","ref":"a1"}],
		"citations":[{"id":"p1","content":"A passage."}],
		"usage":{"prompt_tokens":1,"completion_tokens":0}}`, string(got))
	if want := []sdk.Emitted{{Kind: "answer", Data: "Hello"}}; !reflect.DeepEqual(f.Emitted, want) {
		t.Errorf("emitted %v", f.Emitted)
	}
	for _, c := range []struct{ name, message string }{
		{"an argument of the wrong type", `{"abi":1,"arguments":{"city":3}}`},
		{"an unknown ABI version", `{"abi":2}`},
		{"invalid JSON", `no`},
	} {
		if _, err := f.Invoke([]byte(c.message)); !sdk.IsCode(err, sdk.InvalidArgument) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := (&sdk.Fake{CancelAfter: 1}).Invoke([]byte(`{"abi":1,"arguments":{"city":"Oslo"}}`)); !errors.Is(err, sdk.ErrCancelled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCheck(t *testing.T) {
	register()
	var f sdk.Fake
	if err := f.Check([]byte(`{"params":{"limit":2}}`)); err != nil {
		t.Error(err)
	}
	if err := f.Check([]byte(`{"params":{"limit":3}}`)); err == nil || err.Error() != "not three" {
		t.Errorf("got %v", err)
	}
	if err := f.Check([]byte(`{"params":[]}`)); !sdk.IsCode(err, sdk.InvalidArgument) {
		t.Errorf("got %v", err)
	}
}

func TestServices(t *testing.T) {
	f := sdk.Fake{
		HTTP: func(r sdk.Request) (*sdk.Response, error) {
			return &sdk.Response{Status: 201, Body: append([]byte{0xff}, r.Body...), Headers: r.Headers}, nil
		},
		Models:  func(q sdk.Chat) (sdk.Reply, error) { return sdk.Reply{Text: q.Messages[0].Content + "!"}, nil },
		Vectors: func(texts []string) ([][]float32, error) { return [][]float32{{1}, {2}}, nil },
		Values:  map[string]string{"a1": "x"}, Variables: map[string]any{"env.n": 1.0}, Settings: map[string]string{"colour": "blue"},
	}
	c := f.Call()
	res, err := c.Fetch(sdk.Request{URL: "http://a.example/", Method: "POST", Body: []byte("b"), Headers: map[string]string{"X-Key": c.Secret("KEY")}})
	if err != nil || res.Status != 201 || string(res.Body) != "\xffb" || res.Headers["X-Key"] != "{{secret:KEY}}" {
		t.Errorf("fetch: %+v %v", res, err)
	}
	if r, err := c.Chat(sdk.Chat{Messages: []sdk.Message{{Role: "user", Content: "hi"}}}); err != nil || r.Text != "hi!" {
		t.Errorf("chat: %v %v", r, err)
	}
	if v, err := c.Embed("a", "b"); err != nil || len(v) != 2 {
		t.Errorf("embed: %v %v", v, err)
	}
	if err := errors.Join(c.Store("a2", "y"), c.Delete("a1")); err != nil {
		t.Error(err)
	}
	if keys, err := c.Keys("a"); err != nil || !reflect.DeepEqual(keys, []string{"a2"}) {
		t.Errorf("keys: %v %v", keys, err)
	}
	if v, found, err := c.Load("a2"); err != nil || !found || v != "y" {
		t.Errorf("load: %v %v %v", v, found, err)
	}
	var n int
	if found, err := c.Variable("env.n", &n); err != nil || !found || n != 1 {
		t.Errorf("variable: %v %v", n, err)
	}
	if found, err := c.Variable("env.none", &n); err != nil || found {
		t.Errorf("variable: %v %v", found, err)
	}
	if err := errors.Join(c.SetVariable("env.n", 2), c.Sleep(1), c.Think("hm"), c.Progress(50, "half"), c.Partial("text", "a")); err != nil {
		t.Error(err)
	}
	c.Remember("k", []byte("v"))
	c.Log(sdk.Warn, "careful %d", 1)
	if v, ok := c.Setting("colour"); !ok || v != "blue" || string(c.Recall("k")) != "v" || f.Logged[0] != "careful 1" {
		t.Error("settings, variables of the run or the log do not work")
	}
}

func TestCallsWithoutAGrantAreDenied(t *testing.T) {
	c := (&sdk.Fake{}).Call()
	_, fetch := c.Fetch(sdk.Request{URL: "http://a.example/"})
	_, chat := c.Chat(sdk.Chat{})
	_, _, load := c.Load("k")
	for _, err := range []error{fetch, chat, load, c.SetVariable("env.n", 1)} {
		if !sdk.IsCode(err, sdk.Denied) {
			t.Errorf("got %v", err)
		}
	}
}
