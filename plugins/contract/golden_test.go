package contract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// TestGoldenMessagesInGo reads the golden messages with the types of this package.
func TestGoldenMessagesInGo(t *testing.T) {
	files, err := filepath.Glob("golden/*.json")
	require.NoError(t, err)
	seen := map[string]int{}
	for _, file := range files {
		kind, _, _ := strings.Cut(filepath.Base(file), ".")
		read, ok := goldenReaders[kind]
		if !ok {
			continue
		}
		seen[kind]++
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			g := parse(t, string(raw))
			err = read(g.Get("message"))
			require.Equal(t, g.Get("valid").True(), err == nil, "%v", err)
		})
	}
	for kind := range goldenReaders {
		require.Positive(t, seen[kind], kind)
	}
}

var goldenReaders = map[string]func(engine.Value) error{
	"manifest": func(v engine.Value) error {
		m, err := ParseManifest(v.AppendJSON(nil))
		if err == nil {
			_, err = ParseManifest(m.Value().AppendJSON(nil))
		}
		return err
	},
	"output": func(v engine.Value) error {
		_, err := (&Manifest{}).ReadAnswer(v.JSON())
		return err
	},
	"error": func(v engine.Value) error {
		if e := GuestError(v.AppendJSON(nil), 1); e.Message == v.JSON() { // used as text
			return e
		}
		return nil
	},
	"partial": func(v engine.Value) error {
		if _, ok := ReadEmission(Partial, v.AppendJSON(nil)); !ok {
			return InvalidArgument
		}
		return nil
	},
}

// TestProgressIsCut checks that progress outside 0 to 100 is corrected and not an error.
func TestProgressIsCut(t *testing.T) {
	for data, want := range map[string]float64{
		`{"pct":50}`: 50, `{"pct":1000,"note":"n"}`: 100, `{"pct":-1}`: 0,
		`{}`: 0,
	} {
		e, ok := ReadEmission(Progress, []byte(data))
		require.True(t, ok)
		require.InDelta(t, want, e.Pct, 0, data)
	}
	for _, data := range []string{"", "x", "[]", `{"pct":"5"}`, `{"note":1}`} {
		_, ok := ReadEmission(Progress, []byte(data))
		require.False(t, ok, data)
	}
	_, ok := ReadEmission(9, []byte("{}"))
	require.False(t, ok, "an unknown kind")
}

// TestEveryCodeIsExplained checks that the contract and the guide for authors list every code.
func TestEveryCodeIsExplained(t *testing.T) {
	for _, file := range []string{"contract.md", "../README.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, code := range []Code{
			InvalidArgument, NotFound, Unauthorized, RateLimited, Upstream, Internal, Timeout, Cancelled,
			OutOfFuel, OutOfMemory, StackOverflow, Panic, Trap, Exit, OutputTooLarge, TooManyCalls, BadOutput,
			Denied, Unsupported, Unavailable, UnknownExport, Closed, MissingSetting,
			Malformed, Forged, BadManifest, BadSignature, ABIMismatch, NeedsApproval, OverLimit,
		} {
			require.Contains(t, string(text), "`"+string(code)+"`", "%s does not explain it", file)
		}
	}
}
