package pluginkit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// endless computes until it is stopped.
const endless = "loop $l br $l end"

// guest is a module with a body for easel_invoke; {"outputs":{}} stands at 0, "again" at 32,
// {"outputs":{"a":1}} at 64.
func guest(t *testing.T, body string) []byte { return guestOf(t, "none", body) }

func guestOf(t *testing.T, state, body string) []byte {
	t.Helper()
	timeout := 30_000
	if strings.Contains(body, endless) { // it ends by its deadline, other ones however slow the machine is
		timeout = 300
	}
	packed, err := contract.WithSection(wattest.Must(`(module
		(import "easel:host/v1" "input_len" (func $input_len (result i32)))
		(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
		(import "easel:host/v1" "emit" (func $emit (param i32 i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
		(memory (export "memory") 1) (global $n (mut i32) (i32.const 0))
		(data (i32.const 0) "{\"outputs\":{}}") (data (i32.const 32) "again") (data (i32.const 64) "{\"outputs\":{\"a\":1}}")
		(func (export "easel_invoke") (result i32) (local $i i32) `+body+` i32.const 0 i32.const 14 call $output_write i32.const 0))`),
		contract.ManifestSection, fmt.Appendf(nil,
			`{"abi":1,"name":"sample","version":"1.0.0","description":"A sample.","state":%q,"limits":{"timeout_ms":%d}}`,
			state, timeout))
	require.NoError(t, err)
	return packed
}

// counts answers otherwise from the second call on.
const counts = "global.get $n if i32.const 64 i32.const 19 call $output_write i32.const 0 return end " +
	"i32.const 1 global.set $n"

// TestKitAcceptsState lets a plugin keep the state that its manifest declares.
func TestKitAcceptsState(t *testing.T) {
	for _, state := range []string{"tenant", "run"} {
		r, err := pluginkit.Run(t.Context(), guestOf(t, state, counts), []pluginkit.Case{{Name: "plain"}},
			pluginkit.Options{})
		require.NoError(t, err)
		require.True(t, r.Passed(), "%s: %+v", state, r.Checks)
	}
}

// TestKitGivesDefaults plays a case with the defaults of the manifest, as a node does.
func TestKitGivesDefaults(t *testing.T) {
	mirror := wattest.Must(`(module
		(import "easel:host/v1" "input_len" (func $len (result i32)))
		(import "easel:host/v1" "input_read" (func $read (param i32 i32) (result i32)))
		(import "easel:host/v1" "output_write" (func $write (param i32 i32)))
		(import "easel:host/v1" "log" (func $log (param i32 i32 i32)))
		(memory (export "memory") 32) (data (i32.const 0) "{\"outputs\":}")
		(func (export "easel_invoke") (result i32) (local $n i32)
			call $len local.set $n i32.const 64 local.get $n call $read drop
			i32.const 3 i32.const 3 i32.const 7 call $log
			i32.const 0 i32.const 11 call $write i32.const 64 local.get $n call $write
			i32.const 11 i32.const 1 call $write i32.const 0))`)
	manifest := `{"abi":1,"name":"sample","version":"1.0.0","description":"A sample.",
		"params":{"type":"object","properties":{"units":{"type":"string","default":"c"}}},
		"arguments":{"type":"object","properties":{"days":{"type":"integer","default":3}}}}`
	packed, err := contract.WithSection(mirror, contract.ManifestSection, []byte(manifest))
	require.NoError(t, err)
	want := engine.Object("params", engine.Object("units", "c"), "arguments", engine.Object("days", 3))
	r, err := pluginkit.Run(t.Context(), packed, []pluginkit.Case{{Name: "bare", Outputs: want}}, pluginkit.Options{})
	require.NoError(t, err)
	for _, c := range r.Checks {
		if c.Name == "case bare" {
			require.Equal(t, pluginkit.OK, c.Outcome, c.Detail)
			require.Equal(t, []plugin.LogLine{{Level: "warn", Text: `utputs"`}}, c.Log)
		}
	}
}

// TestKitRequiresTheExport fails a module that cannot be called.
func TestKitRequiresTheExport(t *testing.T) {
	packed, err := contract.WithSection(wattest.Must(`(module (func (export "other") (result i32) i32.const 0))`),
		contract.ManifestSection, []byte(`{"abi":1,"name":"sample","version":"1.0.0","description":"A sample."}`))
	require.NoError(t, err)
	r, err := pluginkit.Run(t.Context(), packed, nil, pluginkit.Options{})
	require.NoError(t, err)
	require.False(t, r.Passed())
	require.Contains(t, r.Checks[0].Detail, "easel_invoke")
}

func TestKitFindsFaults(t *testing.T) {
	plain := []pluginkit.Case{{Name: "plain"}}
	for _, c := range []struct {
		name, body string
		cases      []pluginkit.Case
		check      string // that fails; "" when all is well
		detail     string
	}{
		{"a correct plugin passes", "", plain, "", ""},
		{
			"a wrong output", "",
			[]pluginkit.Case{{Name: "x", Outputs: engine.Object("text", "a")}},
			"case x",
			"want \"a\", got null",
		},
		{"an unexpected error", "", []pluginkit.Case{{Name: "x", Error: "not_found"}}, "case x", `want the error "not_found"`},
		{"a trap on empty input", "call $input_len i32.eqz if unreachable end", plain, "empty input", "trap"},
		{"an endless loop on large input", "call $input_len i32.const 500000 i32.gt_u if " + endless + " end", plain, "a megabyte of input", "timeout"},
		{"continuing after cancel", "i32.const 1 i32.const 32 i32.const 5 call $emit if " + endless + " end", plain, "cancel", "to end after emit 1"},
		{"state kept between calls", counts, plain, "a call after an error", "another answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := pluginkit.Run(t.Context(), guest(t, c.body), c.cases, pluginkit.Options{})
			require.NoError(t, err)
			require.Equal(t, c.check == "", r.Passed(), "%+v", r.Checks)
			for _, x := range r.Checks {
				if x.Outcome == pluginkit.Failed {
					require.Equal(t, c.check, x.Name)
					require.Contains(t, x.Detail, c.detail)
					return
				}
			}
		})
	}
}

func TestKitReportsWhatDoesNotLoad(t *testing.T) {
	r, err := pluginkit.Run(t.Context(), []byte("\x00asm\x01\x00\x00\x00"), nil, pluginkit.Options{})
	require.NoError(t, err)
	require.False(t, r.Passed())
	require.Contains(t, r.Checks[0].Detail, "easel plugin pack")
}

func TestKitComparesWithTheLastReport(t *testing.T) {
	cases := []pluginkit.Case{{Name: "plain"}}
	last, err := pluginkit.Run(t.Context(), guest(t, ""), cases, pluginkit.Options{})
	require.NoError(t, err)
	loop := "loop $l local.get $i i32.const 1 i32.add local.tee $i i32.const 1000 i32.lt_u br_if $l end"
	r, err := pluginkit.Run(t.Context(), guest(t, loop), cases, pluginkit.Options{Last: last})
	require.NoError(t, err)
	require.True(t, r.Passed(), "growth is a warning")
	require.Equal(t, pluginkit.Warning, r.Checks[len(r.Checks)-1].Outcome)
	require.Contains(t, r.Checks[len(r.Checks)-1].Detail, "fuel of plain grew")
}

func TestReadCases(t *testing.T) {
	_, err := pluginkit.ReadCases([]byte(`[{"name":"a","outputz":{}}]`))
	require.ErrorContains(t, err, "outputz")
	_, err = pluginkit.ReadCases([]byte(`[{}]`))
	require.ErrorContains(t, err, "cases[0]: name is missing")
}
