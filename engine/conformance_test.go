package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// builtins returns a registry of every built-in component.
func builtins(t testing.TB) *engine.Registry {
	t.Helper()
	reg, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	return reg
}

// eachCase runs a test for every case file.
func eachCase(t *testing.T, test func(t *testing.T, c *enginetest.Case)) {
	paths, err := filepath.Glob("testdata/cases/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			c, err := enginetest.ParseCase(data)
			require.NoError(t, err)
			test(t, c)
		})
	}
}

// TestConformance plays every case in every mode of a run. The observation must not depend on the
// mode.
func TestConformance(t *testing.T) {
	reg := builtins(t)
	ways := []struct {
		name   string
		player enginetest.Player
	}{
		{"saved between turns", enginetest.Player{}},
		{"one node at a time", enginetest.Player{Concurrency: 1}},
		{"fifty nodes at a time", enginetest.Player{Concurrency: 50}},
		{"cut after each batch", enginetest.Player{Cut: enginetest.AtCheckpoints}},
		{"all turns on one state", enginetest.Player{Keep: true}},
	}
	eachCase(t, func(t *testing.T, c *enginetest.Case) {
		for _, way := range ways {
			t.Run(way.name, func(t *testing.T) {
				player := way.player
				player.Registry = reg
				observed, err := player.Play(t.Context(), c)
				require.NoError(t, err)
				for _, d := range enginetest.Compare(c.Value(), observed) {
					t.Error(d)
				}
			})
		}
	})
}

// TestConformanceBytes plays every case twice: the events are the same byte for byte, and a run
// that is cut after each batch has the bytes of an uninterrupted one.
func TestConformanceBytes(t *testing.T) {
	reg := builtins(t)
	eachCase(t, func(t *testing.T, c *enginetest.Case) {
		first := lines(t, &enginetest.Player{Registry: reg, Cut: never}, c)
		requireSameLines(t, first, lines(t, &enginetest.Player{Registry: reg, Cut: never}, c), "played again")
		requireSameLines(t, first, lines(t, &enginetest.Player{Registry: reg, Cut: enginetest.AtCheckpoints}, c),
			"cut after each batch")
	})
}

// TestConformanceCrash stops every case once after each entry of its logs, as a crash would. The
// surviving log and the entries of the takeover are the bytes of an uninterrupted run. The work
// grows with the square of the entries, so a short test stops after every seventh.
func TestConformanceCrash(t *testing.T) {
	reg, step := builtins(t), 1
	if testing.Short() {
		step = 7
	}
	eachCase(t, func(t *testing.T, c *enginetest.Case) {
		first := lines(t, &enginetest.Player{Registry: reg, Cut: never}, c)
		for n, cut := 1, true; cut; n += step {
			after := enginetest.AfterEntry(n)
			cut = false
			player := &enginetest.Player{Registry: reg, Cut: func(e *engine.Event) bool {
				hit := after(e)
				cut = cut || hit
				return hit
			}}
			requireSameLines(t, first, lines(t, player, c), fmt.Sprintf("crash after entry %d", n))
		}
	})
}

// never keeps a log and does not cut.
func never(*engine.Event) bool { return false }

// lines returns the events of all runs of a case as clients get them, one per line, each run
// followed by what is stored.
func lines(t *testing.T, player *enginetest.Player, c *enginetest.Case) []string {
	t.Helper()
	observed, err := player.Play(t.Context(), c)
	require.NoError(t, err)
	var list []string
	for _, r := range observed.Get("runs").Elements() {
		for _, e := range r.Get("events").Elements() {
			list = append(list, e.JSON())
		}
		list = append(list, "error: "+r.Get("error").Text(), r.Get("dsl_after").JSON())
	}
	return list
}

// requireSameLines shows the first line in which two lists differ.
func requireSameLines(t *testing.T, want, got []string, what string) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		a, b := "nothing", "nothing"
		if i < len(want) {
			a = want[i]
		}
		if i < len(got) {
			b = got[i]
		}
		if a != b {
			t.Fatalf("%s: line %d:\nexpected %s\nsaw      %s", what, i+1, around(a, b), around(b, a))
		}
	}
}

// around returns the part of a where it begins to differ from b.
func around(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-200):min(len(a), i+200)]
}

// TestOutputsAreDeclared compares the outputs of every node of every case with what its component
// declares.
func TestOutputsAreDeclared(t *testing.T) {
	reg := builtins(t)
	require.NoError(t, reg.Add(enginetest.EchoToolSpec()))
	eachCase(t, func(t *testing.T, c *enginetest.Case) {
		observed, err := (&enginetest.Player{Registry: reg}).Play(t.Context(), c)
		require.NoError(t, err)
		for _, run := range observed.Get("runs").Elements() {
			for _, e := range run.Get("events").Elements() {
				if e.Get("event").Str() != string(engine.EventNodeFinished) {
					continue
				}
				obj := c.DSL.Get("components").Get(e.Get("data").Get("component_id").Str()).Get("obj")
				spec, err := reg.Lookup(obj.Get("component_name").Str())
				require.NoError(t, err)
				for _, wrong := range enginetest.CheckOutputs(spec, obj.Get("params"), e.Get("data").Get("outputs")) {
					t.Error(wrong)
				}
			}
		}
	})
}
