package python

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// hostile is a script that tries to leave the sandbox or to exhaust it.
type hostile struct{ name, kind, want, script string }

// readHostile reads a file of scripts, each after a line "#### name :: kind :: want".
func readHostile(t *testing.T, name string) (scripts []hostile) {
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	for _, part := range strings.Split(string(text), "\n#### ")[1:] {
		head, script, ok := strings.Cut(part, "\n")
		fields := strings.Split(head, " :: ")
		require.True(t, ok && len(fields) == 3, head)
		scripts = append(scripts, hostile{fields[0], fields[1], fields[2], strings.TrimSpace(script)})
	}
	require.Greater(t, len(scripts), 15)
	return scripts
}

// Each piece uses a feature that the sandbox lacks and gets an exception; all run in one
// interpreter.
func TestSandboxRefuses(t *testing.T) {
	r := newRunner(t, Limits{Time: patience})
	pieces := readHostile(t, "refused.py")
	var b strings.Builder
	for i, c := range pieces {
		fmt.Fprintf(&b, "def f%d():\n    %s\n", i, strings.ReplaceAll(c.script, "\n", "\n    "))
	}
	fmt.Fprintf(&b, `
def attempt(f):
    try:
        f()
        return "no error"
    except BaseException as e:
        return f"{type(e).__name__}: {e}"[:300]

def main():
    return [attempt(globals()[f"f{i}"]) for i in range(%d)]
`, len(pieces))
	res, err := r.RunCode(t.Context(), script(b.String()))
	require.NoError(t, err)
	require.Equal(t, engine.KindList, res.Value.Kind(), res.Stderr)
	for i, c := range pieces {
		require.Contains(t, res.Value.At(i).Str(), c.want, c.name)
	}
}

// Each script ends its interpreter or exhausts it; the result is a value, an error of the script,
// or a limit error.
func TestHostileScripts(t *testing.T) {
	const short = 200 * time.Millisecond // for scripts that never end
	hasty, patient := newRunner(t, Limits{Time: short}), newRunner(t, Limits{Time: patience, Output: 1 << 20})
	for _, c := range readHostile(t, "hostile.py") {
		t.Run(c.name, func(t *testing.T) {
			r := patient
			if c.want == "ran longer than "+short.String() {
				r = hasty
			}
			res, err := r.RunCode(t.Context(), script(c.script))
			switch c.kind {
			case "limit":
				require.ErrorIs(t, err, engine.ErrLimit, res)
				require.ErrorContains(t, err, c.want)
			case "stderr":
				require.NoError(t, err)
				require.True(t, res.Value.IsNull())
				require.Contains(t, res.Stderr, c.want)
			default:
				require.NoError(t, err)
				require.Equal(t, c.want, res.Value.JSON(), res.Stderr)
			}
		})
	}
}
