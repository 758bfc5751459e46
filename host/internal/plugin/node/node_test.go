package node_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// mirror answers with what it was given: outputs {abi, call, params, arguments}.
var mirror = guest(`say {"outputs":`, "input", "say }")

const mirrorManifest = `{
	"params": {"type": "object", "properties": {
		"units": {"type": "string", "enum": ["c", "f"], "default": "c"}, "note": {"type": "string"},
		"days": {"type": "integer"}, "place": {"type": "string", "x-easel-ref": true}}},
	"arguments": {"type": "object", "required": ["city"], "properties": {
		"city": {"type": "string", "description": "City name"}, "tags": {"type": "array", "items": {"type": "string"}}, "limit": {"type": "integer", "default": 3}}}}`

func TestNodePassesItsParams(t *testing.T) {
	s := newShop(t, node.Config{Locale: "en"})
	s.add(mirror, mirrorManifest)
	got := s.play(t.Context(), engine.Ports{},
		"begin Begin -> P",
		`P plugin:sample@1 {"days": "2", "note": "{sys.query}", "place": "at {sys.query}", "city": "{sys.query}", "tags": ["{env.tag}"], "other": 1, "max_retries": 0} -> M`,
		`M Message {"content": ["{P@params.place}!"]}`, `=env.tag "blue"`)
	require.NoError(t, got.err)
	out := got.outputs["P"]
	require.JSONEq(t, `{"days": 2, "note": "{sys.query}", "place": "at Q", "units": "c"}`, out.Get("params").JSON(), "only marked params are resolved, only declared ones are passed")
	require.JSONEq(t, `{"city": "Q", "tags": ["blue"], "limit": 3}`, out.Get("arguments").JSON())
	call := out.Get("call")
	require.Equal(t, "P", call.Get("node").Str())
	require.Equal(t, "en", call.Get("locale").Str())
	require.Regexp(t, `^[0-9a-f]+/\d+/\d+$`, call.Get("id").Str(), "the idempotency key of the engine")
	require.Equal(t, []string{"at Q", "!"}, got.said)
}

func parsed(t *testing.T, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}

// The form of a node that runs alone has the arguments that the canvas leaves open and the values
// of its references, with the declared types.
func TestNodeRunsAlone(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(mirror, strings.Replace(mirrorManifest, `"limit": {`, `"sort": {"type": "string", "enum": ["asc", "desc"]},
		"exact": {"type": "boolean"}, "limit": {`, 1))
	load := func(params string) *engine.Canvas {
		c, err := engine.Load(s.registry(), canvas(t, "begin Begin -> A, P", `A Message {"content": ["x"]}`,
			`P plugin:sample@1 `+params))
		require.NoError(t, err)
		return c
	}
	c := load(`{"days": 2, "place": "at {sys.query}", "note": "{A@content}", "limit": "{A@content}"}`)
	form, err := c.InputForm("P")
	require.NoError(t, err)
	require.JSONEq(t, `{
		"city": {"name": "city", "type": "line", "optional": false},
		"exact": {"name": "exact", "type": "boolean", "optional": true},
		"sort": {"name": "sort", "type": "options", "options": ["asc", "desc"], "optional": true},
		"tags": {"name": "tags", "type": "object", "optional": true},
		"sys.query": {"name": "sys.query", "type": "line", "optional": false},
		"A@content": {"name": "A@content", "type": "integer", "optional": false}}`, form.JSON())
	out, err := c.Debug(t.Context(), c.State(), "P", parsed(t, `{"city": "Oslo", "exact": true, "sort": "",
		"tags": "[\"a\"]", "sys.query": "noon", "A@content": "5", "other": 1}`), engine.Options{})
	require.NoError(t, err)
	require.JSONEq(t, `{"days": 2, "place": "at noon", "note": "{A@content}", "units": "c"}`, out.Get("params").JSON())
	require.JSONEq(t, `{"city": "Oslo", "exact": true, "tags": ["a"], "limit": 5}`, out.Get("arguments").JSON())

	c = load(`{"city": "Rome"}`)
	_, err = c.Debug(t.Context(), c.State(), "P", parsed(t, `{"city": "Oslo", "tags": "no list"}`), engine.Options{})
	require.ErrorContains(t, err, "arguments.tags: want array, got string")
	out, err = c.Debug(t.Context(), c.State(), "P", parsed(t, `{"city": "Oslo"}`), engine.Options{})
	require.NoError(t, err)
	require.JSONEq(t, `{"city": "Rome", "limit": 3}`, out.Get("arguments").JSON(), "the canvas sets the city")
}

// A WASI program is a node and a tool like other plugins; its status is the error of the node.
func TestProgramIsANode(t *testing.T) {
	const manifest = `{"abi": 1, "name": "sample", "version": "1.0.0", "description": "A sample.",
		"entry": {"export": "_start"}, "arguments": {"type": "object", "properties": {"input": {"type": "string"}}},
		"outputs": {"type": "object", "properties": {"output": {"type": "string"}}}}`
	s := newShop(t, node.Config{})
	m := s.add(wattest.Must(wattest.NewProgram("", "call $copy")), manifest)
	lines := []string{
		"begin Begin -> P", `P plugin:sample@1 {"input": "{sys.query}!"} -> M`, `M Message {"content": ["{P@output}"]}`,
	}
	got := s.play(t.Context(), engine.Ports{}, lines...)
	require.NoError(t, got.err)
	require.Equal(t, "Q!", strings.Join(got.said, ""))
	s.remove(m)

	failing := wattest.NewProgram("one\\0aquota exceeded\\0a",
		"i32.const 100 i32.const 19 call $err i32.const 9 call $exit")
	s.add(wattest.Must(failing), manifest)
	got = s.play(t.Context(), engine.Ports{}, lines...)
	require.ErrorContains(t, got.err, "exit: quota exceeded")
	lines[1] = `P plugin:sample@1 {"exception_method": "comment", "exception_default_value": "none left"} -> M`
	got = s.play(t.Context(), engine.Ports{}, lines...)
	require.NoError(t, got.err, "the node handles the error")
}

func TestNodeRefusesWrongParams(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(mirror, mirrorManifest)
	_, err := engine.Load(s.registry(), canvas(t, "begin Begin -> P", `P plugin:sample@1 {"units": "k", "city": "x"}`))
	require.ErrorContains(t, err, "units: want one of [c f], got k")
	got := s.play(t.Context(), engine.Ports{}, "begin Begin -> P", `P plugin:sample@1 {"city": ""}`)
	require.ErrorContains(t, got.err, "invalid_argument: arguments.city: missing")
}

func TestMissingPluginFailsWhenReached(t *testing.T) {
	s := newShop(t, node.Config{})
	doc := canvas(t, "begin Begin -> S", `S Switch {"conditions": [{"logical_operator": "and", "items": [{"cpn_id": "sys.query", "operator": "=", "value": "go"}], "to": ["P"]}], "end_cpn_ids": ["M"]} -> P M`,
		`P plugin:absent@2 {"city": "{sys.query}", "deep": {"a": [1]}}`, `M Message {"content": ["fine"]}`)
	c, err := engine.Load(s.registry(), doc)
	require.NoError(t, err)
	saved, err := engine.ParseJSON(c.Save(c.State()))
	require.NoError(t, err)
	original, err := engine.ParseJSON(doc)
	require.NoError(t, err)
	require.True(t, engine.Equal(original.Get("components").Get("P").Get("obj"), saved.Get("components").Get("P").Get("obj")), "round trip")

	var problems []string
	for _, p := range engine.Validate(s.registry(), doc) {
		problems = append(problems, p.Message)
	}
	require.Equal(t, []string{"plugin:absent@2 does not run here: not installed; install it with `easel plugin install`"}, problems)

	run := func(query string) (string, error) {
		st := c.State()
		for e, err := range c.Run(t.Context(), st, engine.Input{Query: engine.String(query)}, engine.Options{Seed: 1}) {
			if err != nil {
				return "", err
			}
			if e.Type == engine.EventMessage {
				return e.Data().Get("content").Str(), nil
			}
		}
		return "", nil
	}
	text, err := run("stay")
	require.NoError(t, err)
	require.Equal(t, "fine", text)
	_, err = run("go")
	require.ErrorIs(t, err, engine.ErrNoPort)
	require.ErrorContains(t, err, "install it with")
}

func TestPluginInstalledAfterLoading(t *testing.T) {
	s := newShop(t, node.Config{})
	c, err := engine.Load(s.registry(), canvas(t, "begin Begin -> P", `P plugin:sample@1 {"city": "{sys.query}"} -> M`, `M Message {"content": ["{P@arguments.city}"]}`))
	require.NoError(t, err)
	s.add(mirror, mirrorManifest)
	said := ""
	for e, err := range c.Run(t.Context(), c.State(), engine.Input{Query: engine.String("Oslo")}, engine.Options{Seed: 1}) {
		require.NoError(t, err)
		if e.Type == engine.EventMessage {
			said += e.Data().Get("content").Str()
		}
	}
	require.Equal(t, "Oslo", said)
}

func TestReplacedPluginServesTheNextRun(t *testing.T) {
	s := newShop(t, node.Config{})
	old := s.add(guest(`say "old"`), "")
	c, err := engine.Load(s.registry(), canvas(t, "begin Begin -> P", `P plugin:sample@1 -> M`, `M Message {"content": ["{P@text}"]}`))
	require.NoError(t, err)
	run := func() (said string) {
		for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, engine.Options{Seed: 1}) {
			require.NoError(t, err)
			if e.Type == engine.EventMessage {
				said += e.Data().Get("content").Str()
			}
		}
		return said
	}
	require.Equal(t, "old", run())
	s.add(guest(`say "new"`), "")
	require.NoError(t, old.Close(t.Context()))
	require.Equal(t, "new", run())
}

func TestErrorsOfPlugins(t *testing.T) {
	fails := func(code, more string) []byte {
		return guest(`fail {"code":"` + code + `","message":"no luck"` + more + `}`)
	}
	begin, message := "begin Begin -> P", `M Message {"content": ["after {P@result}"]}`
	t.Run("is the node's error", func(t *testing.T) {
		s := newShop(t, node.Config{})
		s.add(fails("not_found", ""), "")
		got := s.play(t.Context(), engine.Ports{}, begin, "P plugin:sample@1 -> M", message)
		require.EqualError(t, got.err, "node P (plugin:sample@1): plugin sample: easel_invoke: not_found: no luck")
		require.ErrorIs(t, got.err, contract.NotFound)
	})
	t.Run("a default value stands in", func(t *testing.T) {
		s := newShop(t, node.Config{})
		s.add(fails("internal", ""), "")
		got := s.play(t.Context(), engine.Ports{}, begin, `P plugin:sample@1 {"exception_method": "comment", "exception_default_value": "spare"} -> M`, message)
		require.NoError(t, got.err)
		require.Equal(t, []string{"after ", "spare"}, got.said)
	})
	t.Run("goto leads on", func(t *testing.T) {
		s := newShop(t, node.Config{})
		s.add(fails("internal", ""), "")
		got := s.play(t.Context(), engine.Ports{}, begin, `P plugin:sample@1 {"exception_method": "goto", "exception_goto": ["N"]} -> M`, message, `N Message {"content": ["rescued"]}`)
		require.NoError(t, got.err)
		require.Equal(t, []string{"rescued"}, got.said)
	})
	for _, c := range []struct {
		name, code, more, manifest string
		tries                      int
		waited                     time.Duration
	}{
		{"temporary errors are retried", "upstream", `,"retryable":true`, "", 3, 4 * time.Second},
		{"permanent errors are not retried", "invalid_argument", "", "", 1, 0},
		{"the requested delay is respected", "rate_limited", `,"retryable":true,"data":{"retry_after_ms":9000}`, "", 3, 18 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t, node.Config{})
			s.add(fails(c.code, c.more), c.manifest)
			clock := &steps{}
			got := s.play(t.Context(), engine.Ports{Clock: clock}, begin, `P plugin:sample@1 {"max_retries": 2, "delay_after_error": 2}`)
			require.ErrorContains(t, got.err, "no luck")
			require.Len(t, clock.slept, c.tries-1)
			require.Equal(t, c.waited, clock.total())
		})
	}
	t.Run("a deadline that passes is tried again where that is safe", func(t *testing.T) {
		for _, idempotent := range []bool{true, false} {
			s := newShop(t, node.Config{})
			limits, err := json.Marshal(map[string]any{"limits": map[string]any{"timeout_ms": 30}, "idempotent": idempotent})
			require.NoError(t, err)
			s.add(guest("spin"), string(limits))
			clock := &steps{}
			got := s.play(t.Context(), engine.Ports{Clock: clock}, begin, `P plugin:sample@1 {"max_retries": 1}`)
			require.ErrorIs(t, got.err, contract.Timeout)
			require.Equal(t, idempotent, len(clock.slept) == 1)
		}
	})
}

// steps is a clock that does not wait.
type steps struct{ slept []time.Duration }

func (c *steps) Now() time.Time { return time.Unix(0, 0) }
func (c *steps) Sleep(_ context.Context, d time.Duration) error {
	c.slept = append(c.slept, d)
	return nil
}

func (c *steps) total() (sum time.Duration) {
	for _, d := range c.slept {
		sum += d
	}
	return sum
}

func TestCancelStopsAPlugin(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(guest(`emit 3 {"pct":1}`, "spin"), "")
	c, err := engine.Load(s.registry(), canvas(t, "begin Begin -> P", "P plugin:sample@1"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	var last error
	for e, err := range c.Run(ctx, c.State(), engine.Input{}, engine.Options{Seed: 1, Internal: true}) {
		if err != nil {
			last = err
			break
		}
		if e.Type == engine.EventProgress {
			cancel()
		}
	}
	require.ErrorIs(t, last, engine.ErrCanceled)
	require.Less(t, time.Since(began), patience, "that is its own deadline")
}
