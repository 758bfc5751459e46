package meter_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/easel-canvas/easel/plugins/meter"
)

// wazeroDir returns the directory of the wazero sources, which include the WebAssembly
// specification tests.
func wazeroDir(t testing.TB) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// TestSpecification runs the WebAssembly 2.0 specification tests twice, with unmodified and with
// metered modules, and requires the same results and the same traps. A module that the runtime
// rejects must not become valid by metering.
func TestSpecification(t *testing.T) {
	dir := filepath.Join(wazeroDir(t), "internal/integration_test/spectest")
	files, err := filepath.Glob(filepath.Join(dir, "v2/testdata/*.json"))
	require.NoError(t, err)
	require.Greater(t, len(files), 100)
	environment, err := os.ReadFile(filepath.Join(dir, "testdata/spectest.wasm"))
	require.NoError(t, err)
	var total tally
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			p := newSpecRunner(t, file, environment)
			p.run()
			total.add(p.tally)
		})
	}
	t.Logf("%d modules, %d refused by the meter alone, %d calls compared, %d invalid modules", total.modules, total.refused, total.calls, total.invalid)
	require.Greater(t, total.modules, 1000)
	require.Greater(t, total.calls, 10_000)
	require.Greater(t, total.invalid, 1000)
	require.Less(t, total.refused, total.modules/50)
}

type tally struct{ modules, refused, calls, invalid int }

func (a *tally) add(b tally) {
	a.modules += b.modules
	a.refused += b.refused
	a.calls += b.calls
	a.invalid += b.invalid
}

type command struct {
	Type, Name, Filename, As string
	Line                     int
	ModuleType               string `json:"module_type"`
	Action                   struct {
		Type, Module, Field string
		Args                []struct {
			Type  string
			Value any
		}
	}
}

// side is one of the two runtimes: plain or metered.
type side struct {
	rt    wazero.Runtime
	named map[string]api.Module
	last  api.Module
}

type specRunner struct {
	tally
	t        *testing.T
	dir      string
	commands []command
	sides    [2]*side // plain, metered
	made     command  // the command that instantiated the last module
}

func newSpecRunner(t *testing.T, file string, environment []byte) *specRunner {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var script struct{ Commands []command }
	require.NoError(t, json.Unmarshal(b, &script))
	p := &specRunner{t: t, dir: filepath.Dir(file), commands: script.Commands}
	for i := range p.sides {
		ctx := context.Background()
		rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
		t.Cleanup(func() { require.NoError(t, rt.Close(ctx)) })
		g := &gauge{budget: 1 << 50}
		i32 := []api.ValueType{api.ValueTypeI32}
		_, err := rt.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().
			WithGoModuleFunction(api.GoModuleFunc(g.tick), i32, i32).Export(meter.Tick).Instantiate(ctx)
		require.NoError(t, err)
		_, err = rt.InstantiateWithConfig(ctx, environment, wazero.NewModuleConfig().WithName("spectest"))
		require.NoError(t, err)
		p.sides[i] = &side{rt: rt, named: map[string]api.Module{}}
	}
	return p
}

func (p *specRunner) run() {
	for _, c := range p.commands {
		switch c.Type {
		case "module":
			if !p.instantiate(c, "") {
				return // the following commands refer to a module that was not instantiated
			}
		case "register":
			if !p.register(c) {
				return
			}
		case "action", "assert_return", "assert_trap", "assert_exhaustion":
			p.call(c)
		case "assert_invalid", "assert_malformed":
			p.mustStayInvalid(c)
		}
	}
}

func (p *specRunner) read(file string) []byte {
	b, err := os.ReadFile(filepath.Join(p.dir, file))
	require.NoError(p.t, err)
	return b
}

var wide = meter.Limits{Pages: 1 << 16, Elements: 1 << 27}

func (p *specRunner) instantiate(c command, as string) bool {
	ctx := context.Background()
	plain := p.read(c.Filename)
	metered, err := meter.Rewrite(plain, wide)
	p.modules++
	if err != nil {
		p.refused++
		p.t.Logf("line %d: %v", c.Line, err)
		return false
	}
	for i, b := range [][]byte{plain, metered} {
		mod, err := p.sides[i].rt.InstantiateWithConfig(ctx, b, wazero.NewModuleConfig().WithName(as))
		require.NoError(p.t, err, "line %d, side %d", c.Line, i)
		p.sides[i].last = mod
		if c.Name != "" {
			p.sides[i].named[c.Name] = mod
		}
	}
	p.made = c
	return true
}

// register instantiates a module again under its name: wazero sets the name of an instance only at
// instantiation.
func (p *specRunner) register(c command) bool {
	for _, m := range p.commands {
		if m.Type == "module" && c.Name != "" && m.Name == c.Name {
			return p.instantiate(m, c.As)
		}
	}
	return p.instantiate(p.made, c.As)
}

func (p *specRunner) call(c command) {
	if c.Action.Type != "invoke" {
		return
	}
	args, ok := arguments(c)
	if !ok {
		return
	}
	var results [2][]uint64
	var traps [2]string
	for i, s := range p.sides {
		mod := s.last
		if c.Action.Module != "" {
			mod = s.named[c.Action.Module]
		}
		f := mod.ExportedFunction(c.Action.Field)
		require.NotNil(p.t, f, "line %d", c.Line)
		out, err := f.Call(context.Background(), args...)
		results[i] = out
		if err != nil {
			if traps[i], _, _ = strings.Cut(err.Error(), "\n"); strings.Contains(traps[i], "stack overflow") {
				traps[i] = "stack overflow" // of the runtime's stack or of the meter's budget
			}
		}
	}
	require.Equal(p.t, results[0], results[1], "line %d", c.Line)
	require.Equal(p.t, traps[0], traps[1], "line %d", c.Line)
	p.calls++
}

// arguments returns the scalar arguments; vectors are covered by the runtime's own tests.
func arguments(c command) ([]uint64, bool) {
	var out []uint64
	for _, a := range c.Action.Args {
		s, ok := a.Value.(string)
		if !ok || a.Type == "v128" {
			return nil, false
		}
		if s == "null" {
			s = "0"
		}
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return nil, false
		}
		if strings.HasSuffix(a.Type, "ref") {
			v++
		}
		out = append(out, v)
	}
	return out, true
}

func (p *specRunner) mustStayInvalid(c command) {
	if c.ModuleType != "binary" {
		return
	}
	ctx := context.Background()
	if mod, err := p.sides[0].rt.CompileModule(ctx, p.read(c.Filename)); err == nil {
		require.NoError(p.t, mod.Close(ctx))
		return // the runtime accepts more than the specification
	}
	p.invalid++
	metered, err := meter.Rewrite(p.read(c.Filename), wide)
	if err != nil {
		return
	}
	_, err = p.sides[1].rt.CompileModule(ctx, metered)
	require.Error(p.t, err, "line %d: %s became valid", c.Line, c.Filename)
}
