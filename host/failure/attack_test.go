//go:build soak

package failure_test

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAttackSet is the full set of attacks on a host of 1 GiB: it stays alive and below 600 MB, no
// session is stuck, and no acknowledged data is lost. EASEL_ATTACK_SEED makes other requests and
// mutants, and EASEL_CANVASES names a folder of canvases for the mutants.
func TestAttackSet(t *testing.T) {
	seed := uint64(oddSeed)
	if text := os.Getenv("EASEL_ATTACK_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	bin := buildPrograms(t)
	for _, s := range []struct {
		name string
		test func(t *testing.T, bin programs)
	}{
		{"odd requests", func(t *testing.T, bin programs) { sendOddRequests(t, bin, seed, 18_000) }},
		{"mutants", func(t *testing.T, bin programs) { runMutants(t, bin, seed, 3_000) }},
		{"bodies", hostileBodies},
		{"documents", allDocuments},
		{"growing texts", growingCanvases},
		{"large canvases", largeCanvases},
		{"runaway plugins", runawayPlugins},
		{"scripts", allScripts},
		{"kills, embedded", func(t *testing.T, bin programs) { killedTurns(t, embedded(t, bin), "a") }},
		{"kills, shared", func(t *testing.T, bin programs) { killedTurns(t, shared(t, bin, 1), "a", "b") }},
	} {
		t.Run(s.name, func(t *testing.T) { s.test(t, bin) })
	}
}

// allScripts runs all greedy scripts.
func allScripts(t *testing.T, bin programs) {
	runHostileScripts(t, bin, slices.Sorted(maps.Keys(greedyScripts))...)
}

// killedTurns takes turns in few sessions under sixty kills.
func killedTurns(t *testing.T, w *world, hosts ...string) {
	for _, name := range hosts {
		w.start(name)
	}
	w.turnsUnderKills(60)
}
