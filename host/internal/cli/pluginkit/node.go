package pluginkit

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// The kernel that runs plugins in pages and in Node, made of wasm/js/src/plugin/cases.node.ts by
// `go test ./host/internal/cli/pluginkit -run TestKernelIsCurrent -update`; the same test holds it
// against its source.
//
//go:embed node.mjs
var kernel []byte

// nodeTime bounds how long Node may take for all cases.
const nodeTime = 2 * time.Minute

// task is the input of Node.
type task struct {
	File     []byte     `json:"file"`
	Examined examined   `json:"examined"`
	Pinned   pinned     `json:"pinned"`
	Cases    []nodeCase `json:"cases"`
}

// examined is the file of a plugin as the kernel takes it.
type examined struct {
	Manifest *contract.Manifest   `json:"manifest"`
	Limits   engine.Value         `json:"limits"`
	Granted  contract.Permissions `json:"granted"`
	Wasm     []byte               `json:"wasm"`    // metered
	Imports  [][4]string          `json:"imports"` // module, name, kind, type
	Exports  [][3]string          `json:"exports"` // name, kind, type
	Memory   bool                 `json:"memory"`
}

// pinned are clock, in Unix milliseconds, and chance.
type pinned struct {
	Now    int64 `json:"now"`
	Random int   `json:"random"`
}

type nodeCase struct {
	Export    string            `json:"export"`
	Input     []byte            `json:"input"`
	Timeout   int64             `json:"timeout"` // milliseconds
	Mark      string            `json:"secret_mark"`
	HTTP      []Response        `json:"http,omitempty"`
	Chat      []string          `json:"chat,omitempty"`
	Values    map[string]string `json:"values,omitempty"`
	Variables engine.Value      `json:"variables,omitzero"`
	Secrets   map[string]string `json:"secrets,omitempty"`
}

// played is the result of a case in Node.
type played struct {
	Output  []byte `json:"output"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Fuel    int64  `json:"fuel"`
	Emitted string `json:"emitted"`
	Emits   int    `json:"emits"`
}

// node plays the cases that passed once more in the JavaScript kernel and wants the same outputs,
// pieces, codes and fuel.
func (k *kit) node(ctx context.Context) error {
	const name = "Node"
	switch {
	case k.options.Node == "":
		k.report.add(name, Warning, "there is no Node.js here; outputs and fuel were not compared with the kernel of pages")
		return nil
	case len(k.first) == 0:
		return nil
	}
	b, err := k.bench(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	m, err := b.load(ctx)
	if err != nil {
		return err
	}
	t, kept, err := k.task(ctx, b, m)
	if err != nil {
		return err
	}
	began := time.Now()
	got, err := k.run(ctx, t)
	if err != nil {
		k.report.add(name, Failed, "%v", err)
		return nil
	}
	for i, c := range kept {
		if err := sameIn(k.first[c.Name], got[i]); err != nil {
			k.report.add(name+": case "+c.Name, Failed, "%v", err)
		}
	}
	k.report.add(name, OK, "%d cases in %s", len(kept), time.Since(began).Round(time.Millisecond))
	return nil
}

// task writes the cases for Node. What the manifest refuses before the plugin runs is the same
// everywhere.
func (k *kit) task(ctx context.Context, b *bench, m *plugin.Module) (*task, []Case, error) {
	shape, err := meter.Inspect(k.wasm)
	if err != nil {
		return nil, nil, err
	}
	granted := m.Granted()
	if granted.HTTP != nil { // nothing reaches the network, so private addresses are as good as others
		private := *granted.HTTP
		private.Private, granted.HTTP = true, &private
	}
	t := &task{File: k.wasm, Pinned: pinned{Now: now().UnixMilli(), Random: chance}}
	t.Examined = examined{
		Manifest: m.Manifest(), Limits: m.Limits().Value(), Granted: granted,
		Memory: shape.Memory != nil,
	}
	if t.Examined.Wasm, err = meter.Rewrite(k.wasm, meter.Limits{Pages: uint32(m.Limits().MemoryMB) << 4}); err != nil {
		return nil, nil, err
	}
	for _, i := range shape.Imports {
		t.Examined.Imports = append(t.Examined.Imports, [4]string{i.Module, i.Name, i.Kind.String(), letters(i.Type)})
	}
	for _, e := range shape.Exports {
		t.Examined.Exports = append(t.Examined.Exports, [3]string{e.Name, e.Kind.String(), letters(e.Type)})
	}
	var kept []Case
	for _, c := range k.cases {
		in, err := b.world.invocation(ctx, m.Manifest(), c, "node", nil)
		if err != nil {
			return nil, nil, err
		}
		input, err := m.Input(ctx, in)
		if err != nil || k.first[c.Name] == nil {
			continue
		}
		kept = append(kept, c)
		t.Cases = append(t.Cases, nodeCase{
			Export: in.Component.Export(), Input: input, Timeout: in.Timeout.Milliseconds(), Mark: in.SecretMark, HTTP: c.HTTP, Chat: c.Chat, Values: c.Values, Variables: c.Variables, Secrets: c.Secrets,
		})
	}
	return t, kept, nil
}

// run hands the task to Node.
func (k *kit) run(ctx context.Context, t *task) (_ []played, err error) {
	dir, err := os.MkdirTemp("", "easel-node-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	script := filepath.Join(dir, "cases.mjs")
	if err := os.WriteFile(script, kernel, 0o600); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, nodeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.options.Node, script)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(raw), &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", k.options.Node, err, strings.TrimSpace(complaint.String()))
	}
	var got []played
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		return nil, fmt.Errorf("%s: %w", k.options.Node, err)
	}
	if len(got) != len(t.Cases) {
		return nil, fmt.Errorf("%s: %d answers for %d cases", k.options.Node, len(got), len(t.Cases))
	}
	return got, nil
}

// sameIn compares what a case gave here with what it gave in Node.
func sameIn(here *outcome, there played) error {
	code := codeOf(here.err)
	if code == string(contract.BadOutput) { // found after the call, on the server's side of it
		code = ""
	}
	if code != there.Code {
		return fmt.Errorf("the error is %q here and %q in Node (%s)", code, there.Code, there.Message)
	}
	if code == "" {
		var a, b any
		errA, errB := json.Unmarshal(here.answer.Output, &a), json.Unmarshal(there.Output, &b)
		if (errA == nil) != (errB == nil) || !reflect.DeepEqual(a, b) {
			return fmt.Errorf("the output is %s here and %s in Node", shorten(here.answer.Output), shorten(there.Output))
		}
	}
	switch {
	case here.emitted.String() != there.Emitted || here.emits != there.Emits:
		return fmt.Errorf("emitted are %q in %d pieces here and %q in %d in Node", here.emitted.String(), here.emits, there.Emitted, there.Emits)
	case here.answer.Fuel != there.Fuel:
		return fmt.Errorf("it burns %d units of fuel here and %d in Node", here.answer.Fuel, there.Fuel)
	}
	return nil
}

func shorten(b []byte) string {
	const most = 200
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}

// letters writes the type of a function: (i32 i64) -> i32 is iI:i.
func letters(t meter.FuncType) string {
	word := func(types []byte) string {
		var b strings.Builder
		for _, v := range types {
			b.WriteByte(map[byte]byte{0x7f: 'i', 0x7e: 'I', 0x7d: 'f'}[v])
		}
		return strings.ReplaceAll(b.String(), "\x00", "F")
	}
	return word(t.Params) + ":" + word(t.Results)
}
