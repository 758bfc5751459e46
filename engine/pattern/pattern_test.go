package pattern

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unsupported are expressions that Python accepts and this package refuses.
var unsupported = map[string]bool{`(?<=a)b`: true, `(?>a)`: true}

// TestPython plays cases that Python's re module answered.
// A search ends when its steps do, also inside look-ahead.
func TestFindWithinSteps(t *testing.T) {
	text := strings.Repeat("x", 2000)
	for _, expr := range []string{`(?=(?s:.*)b)x`, `(?:x?){500}z`} {
		p := MustCompile(expr)
		_, _, ok := p.FindWithin(text, 10_000)
		require.False(t, ok, expr)
		start, end, ok := p.FindWithin("xxz xb", 10_000_000)
		require.True(t, ok, expr)
		first, last := p.Find("xxz xb", 0)
		require.Equal(t, []int{first, last}, []int{start, end}, expr)
	}
	_, _, ok := MustCompile("z").FindWithin(text, 1_000_000)
	require.True(t, ok, "nothing is found")
}

func TestPython(t *testing.T) {
	f, err := os.Open("testdata/python.jsonl")
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	lines := bufio.NewScanner(f)
	n := 0
	for ; lines.Scan(); n++ {
		var c struct {
			Expr, Text string
			Start, End int
			Match      bool
			Error      bool
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		p, err := Compile(c.Expr)
		if c.Error || unsupported[c.Expr] {
			require.Error(t, err, c.Expr)
			continue
		}
		require.NoError(t, err, c.Expr)
		start, end := p.Find(c.Text, 0)
		require.Equal(t, [2]int{c.Start, c.End}, [2]int{start, end}, "%q in %q", c.Expr, c.Text)
		require.Equal(t, c.Match, p.Match(c.Text), "%q at the start of %q", c.Expr, c.Text)
	}
	require.NoError(t, lines.Err())
	require.Greater(t, n, 1000)
}

func TestErrors(t *testing.T) {
	for expr, want := range map[string]string{
		`(a`:                `missing ) (at 2)`,
		`a)`:                `unbalanced ) (at 1)`,
		`[a`:                `missing ] (at 2)`,
		`*`:                 `nothing to repeat before * (at 1)`,
		`a{2}{3}`:           `multiple repeat (at 4)`,
		`a{2000}`:           `repeat of more than 1000 (at 1)`,
		`\1`:                `back references are not supported (at 1)`,
		`(?<!a)b`:           `look-behind is not supported (at 4)`,
		`\q`:                `unknown escape \q (at 2)`,
		`((a{1000}){1000})`: `the expression repeats too much (more than 10000 steps)`,
	} {
		_, err := Compile(expr)
		require.EqualError(t, err, want, expr)
	}
	_, err := Compile(strings.Repeat("(", 1000) + strings.Repeat(")", 1000))
	require.ErrorContains(t, err, "nest deeper than 200")
}

func TestReplace(t *testing.T) {
	require.Equal(t, "a-b-", MustCompile(`\d+`).Replace("a1b22", "-"))
	require.Equal(t, "-a-é-", MustCompile(`x*`).Replace("aé", "-"))
	require.Equal(t, "", MustCompile(`a`).Replace("", "-"))
}

// TestTimeIsLinear would not end with a backtracking matcher.
func TestTimeIsLinear(t *testing.T) {
	text := strings.Repeat("a", 5000)
	require.False(t, MustCompile(`(a*)*(a|aa)*(a?){50}b`).Match(text))
	start, _ := MustCompile(`(x+x+)+y`).Find(strings.Repeat("x", 5000), 0)
	require.Equal(t, -1, start)
}

// FuzzPattern compares expressions that mean the same in Go with the standard library.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{`a|b*c`, `(?:ab)+?`, `[^a-c]{2,3}`, `^x|y$`, `(a*)+`, `(?i)ab`} {
		f.Add(s, "abcab")
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		p, err := Compile(expr)
		// Go reads $, escapes, (?...), [: :] and {,n} differently.
		if err != nil || len(text) > 200 || strings.ContainsAny(expr, `\$?`) || strings.Contains(expr, "[:") ||
			strings.Contains(expr, "{,") || strings.ToValidUTF8(expr+text, "") != expr+text {
			return
		}
		want, err := regexp.Compile(expr)
		if err != nil {
			return
		}
		at := want.FindStringIndex(text)
		if at == nil {
			at = []int{-1, -1}
		}
		start, end := p.Find(text, 0)
		require.Equal(t, at, []int{start, end}, "%q in %q", expr, text)
	})
}
