package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// guest writes a module whose easel_invoke takes the steps in order:
//
//	say TEXT       appends to the output
//	input          appends the input to the output
//	emit KIND TEXT emits
//	call JSON      calls the host, and appends the answer to the output
//	fail TEXT      writes an error and returns 1
//	spin           never ends
//
// MARK in a text is the secret_mark of the call; the steps of such a guest do not include input.
func guest(steps ...string) []byte {
	var data, marks, code strings.Builder
	at := 1000
	put := func(text string) string {
		text = strings.ReplaceAll(text, "MARK", wattest.MarkRoom)
		marks.WriteString(wattest.FillMarks(text, at))
		fmt.Fprintf(&data, "\t(data (i32.const %d) %q)\n", at, text)
		place := fmt.Sprintf("i32.const %d i32.const %d", at, len(text))
		at += len(text)
		return place
	}
	for _, step := range steps {
		verb, rest, _ := strings.Cut(step, " ")
		switch verb {
		case "say":
			fmt.Fprintf(&code, "%s call $output_write\n", put(rest))
		case "input":
			code.WriteString("i32.const 20000 i32.const 20000 i32.const 20000 call $input_read call $output_write\n")
		case "emit":
			kind, text, _ := strings.Cut(rest, " ")
			fmt.Fprintf(&code, "i32.const %s %s call $emit if i32.const 0 return end\n", kind, put(text))
		case "call":
			fmt.Fprintf(&code, "i32.const 0 %s call $call drop i32.const 20000 i32.const 20000 i32.const 20000 call $result_read call $output_write\n", put(rest))
		case "fail":
			fmt.Fprintf(&code, "%s call $error_write i32.const 1 return\n", put(rest))
		case "spin":
			code.WriteString("loop $l br $l end\n")
		}
	}
	read := ""
	if marks.Len() > 0 {
		read = "i32.const 20000 i32.const 20000 call $input_read drop\n"
	}
	return wattest.Must(`(module
	(import "easel:host/v1" "input_read" (func $input_read (param i32 i32) (result i32)))
	(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
	(import "easel:host/v1" "error_write" (func $error_write (param i32 i32)))
	(import "easel:host/v1" "emit" (func $emit (param i32 i32 i32) (result i32)))
	(import "easel:host/v1" "call" (func $call (param i32 i32 i32) (result i32)))
	(import "easel:host/v1" "result_read" (func $result_read (param i32 i32) (result i32)))
	(memory (export "memory") 1)
` + data.String() + wattest.MarkFunc(20000) + `(func (export "easel_invoke") (result i32)
` + read + marks.String() + code.String() + `i32.const 0))`)
}

// shop is a host with its installed plugins.
type shop struct {
	t       testing.TB
	host    *plugin.Host
	adapter *node.Adapter
	mu      sync.Mutex
	modules map[string]*plugin.Module
}

// patience bounds what only a hang exceeds: a busy machine exceeds the default limits of time.
const patience = 5 * time.Minute

func newShop(t testing.TB, cfg node.Config) *shop { return newLoggedShop(t, cfg, io.Discard) }

// newLoggedShop writes everything its host logs to log.
func newLoggedShop(t testing.TB, cfg node.Config, log io.Writer) *shop {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h, err := plugin.New(context.Background(), plugin.Config{
		Log: logger, Limits: contract.Limits{TimeoutMS: int(patience.Milliseconds())}, StartWait: patience,
		QueueWait: patience,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close(context.Background())) })
	s := &shop{t: t, host: h, modules: map[string]*plugin.Module{}}
	cfg.Find = s.find
	s.adapter = node.New(cfg)
	return s
}

func (s *shop) find(ref string) (*plugin.Module, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.modules[ref]; m != nil {
		return m, nil
	}
	return nil, &contract.Error{
		Code:    contract.NotFound,
		Message: "not installed; install it with `easel plugin install`", Plugin: ref,
	}
}

// add installs a guest as sample@1. fields are laid over a minimal manifest.
func (s *shop) add(wasm []byte, fields string) *plugin.Module {
	s.t.Helper()
	manifest := map[string]any{"abi": 1, "name": "sample", "version": "1.0.0", "description": "A sample."}
	if fields != "" {
		require.NoError(s.t, json.Unmarshal([]byte(fields), &manifest))
	}
	raw, err := json.Marshal(manifest)
	require.NoError(s.t, err)
	packed, err := contract.WithSection(wasm, contract.ManifestSection, raw)
	require.NoError(s.t, err)
	m, err := s.host.Load(context.Background(), packed, plugin.LoadOptions{Granted: contract.Everything()})
	require.NoError(s.t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modules["sample@1"] = m
	return m
}

// remove removes a plugin.
func (s *shop) remove(m *plugin.Module) {
	s.mu.Lock()
	delete(s.modules, "sample@1")
	s.mu.Unlock()
	require.NoError(s.t, m.Close(context.Background()))
}

// registry contains the built-ins and the shop's plugins.
func (s *shop) registry() *engine.Registry {
	s.t.Helper()
	reg, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(s.t, err)
	reg.Plugin = s.adapter.Lookup
	return reg
}

// canvas writes a document of lines: id component params -> successors. A line =name JSON sets a
// variable.
func canvas(t testing.TB, lines ...string) []byte {
	t.Helper()
	value := func(text string) engine.Value {
		v, err := engine.ParseJSONText(text)
		require.NoError(t, err, text)
		return v
	}
	globals := value(`{"sys.query": "", "sys.user_id": "", "sys.conversation_turns": 0, "sys.files": []}`)
	components := engine.Object()
	for _, line := range lines {
		if global, ok := strings.CutPrefix(line, "="); ok {
			name, text, _ := strings.Cut(global, " ")
			globals = globals.With(name, value(text))
			continue
		}
		line, edges, _ := strings.Cut(line, " -> ")
		id, rest, _ := strings.Cut(line, " ")
		kind, params, _ := strings.Cut(rest, " ")
		if params == "" {
			params = "{}"
		}
		components = components.With(id, engine.Object(
			"obj", engine.Object("component_name", kind, "params", value(params)), "downstream", strings.Fields(edges)))
	}
	return engine.Object("components", components, "globals", globals).AppendJSON(nil)
}

// seen holds the visible results of a run.
type seen struct {
	said    []string                // pieces of messages
	outputs map[string]engine.Value // of finished nodes
	errors  map[string]string       // of finished nodes
	notes   []engine.Value          // data of progress
	tools   []engine.Value          // data of tool_finished
	usage   engine.Value            // of the run
	state   *engine.State
	err     error
	// reference holds the passages that the run may cite: {chunks, doc_aggs}.
	reference engine.Value
}

// play runs a canvas once with the query Q.
func (s *shop) play(ctx context.Context, ports engine.Ports, lines ...string) *seen {
	s.t.Helper()
	c, err := engine.Load(s.registry(), canvas(s.t, lines...))
	require.NoError(s.t, err)
	out := &seen{outputs: map[string]engine.Value{}, errors: map[string]string{}, state: c.State()}
	for e, err := range c.Run(ctx, out.state, engine.Input{Query: engine.String("Q")}, engine.Options{Ports: ports, Seed: 1, Internal: true, TaskID: "task"}) {
		if err != nil {
			out.err = err
			break
		}
		data := e.Data()
		switch e.Type {
		case engine.EventMessage:
			out.said = append(out.said, data.Get("content").Str())
		case engine.EventProgress:
			out.notes = append(out.notes, data)
		case engine.EventToolFinished:
			out.tools = append(out.tools, data)
		case engine.EventWorkflowFinished:
			out.usage = data.Get("usage")
		case engine.EventNodeFinished:
			out.outputs[e.Node] = data.Get("outputs")
			out.errors[e.Node] = data.Get("error").Text()
		}
	}
	saved, err := engine.ParseJSON(c.Save(out.state))
	require.NoError(s.t, err)
	runs := saved.Get("retrieval")
	out.reference = runs.At(runs.Len() - 1)
	return out
}
