package enginetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// cases reads every case of the engine.
func cases(t testing.TB) []engine.Value {
	t.Helper()
	paths, err := filepath.Glob("../testdata/cases/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var list []engine.Value
	for _, p := range paths {
		data, err := os.ReadFile(p)
		require.NoError(t, err)
		v, err := engine.ParseJSON(data)
		require.NoError(t, err, p)
		list = append(list, v)
	}
	return list
}

func TestCaseRoundTrip(t *testing.T) {
	for _, v := range cases(t) {
		c, err := enginetest.ReadCase(v)
		require.NoError(t, err)
		require.True(t, engine.Equal(v, c.Value()), "%s:\n%s\n%s", c.Name, v, c.Value())
	}
}

func TestReadCaseRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"missing name", `{"dsl":{},"runs":[{}]}`, "name is missing"},
		{"missing canvas", `{"name":"x","runs":[{}]}`, "dsl is a null"},
		{"missing runs", `{"name":"x","dsl":{}}`, "runs is empty"},
		{"an empty reply", `{"name":"x","dsl":{},"runs":[{"llm_script":[{"match":"a"}]}]}`, "llm_script[0]"},
		{"a cancellation without an event", `{"name":"x","dsl":{},"runs":[{"cancel":{"nth":1}}]}`, "cancel"},
		{"invalid JSON", `{`, "invalid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := enginetest.ParseCase([]byte(tt.text))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// TestCompareFits checks that an observation made from each case matches it, although it is written
// differently: in pieces, with timestamps, extra fields and nulls.
func TestCompareFits(t *testing.T) {
	for _, c := range cases(t) {
		require.Empty(t, enginetest.Compare(c, pretend(c)), c.Get("name"))
	}
}

// TestCompareDetectsDamage checks that each kind of damage is reported.
func TestCompareDetectsDamage(t *testing.T) {
	n := 0
	for _, c := range cases(t) {
		for what, damaged := range mutations(c, pretend(c)) {
			n++
			require.NotEmpty(t, enginetest.Compare(c, damaged), "%s: %s", c.Get("name"), what)
		}
	}
	require.Greater(t, n, 3000)
}

func TestCompareValues(t *testing.T) {
	tests := []struct {
		name, want, seen string
		same             bool
	}{
		{"numbers by value", `1`, `1.0`, true},
		{"a boolean is not a number", `true`, `1`, false},
		{"null equals a missing member", `{"a":null}`, `{}`, true},
		{"an empty object equals a missing member", `{}`, `null`, true},
		{"null does not equal an empty list", `[]`, `null`, false},
		{"order of members is ignored", `{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{"order of elements matters", `[1,2]`, `[2,1]`, false},
		{"hidden members are ignored", `{}`, `{"_a":1}`, true},
		{"hidden members count when expected", `{"_a":1}`, `{"_a":2}`, false},
		{"other members are compared", `{}`, `{"a":1}`, false},
		{"ignore", `{"$ignore":true}`, `[1]`, true},
		{"present", `{"$present":true}`, `""`, false},
		{"text without case", `{"$contains":["AB","c"]}`, `"xab C"`, true},
		{"text in other values", `{"$contains":["k"]}`, `{"k":1}`, true},
		{"lacks", `{"$lacks":["b"]}`, `"aBc"`, false},
		{"starts", `{"$starts":"ab"}`, `"abc"`, true},
		{"JSON in a string", `{"$json":{"a":{"$ignore":true}}}`, `"{\"a\": 3}"`, true},
		{"a string that is not JSON", `{"$json":{"a":1}}`, `"{a"`, false},
		{"a member that is not a matcher", `{"$ignore":true,"x":1}`, `{}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := parse(t, `{"name":"x","runs":[{"saved_memory":[{"user_input":`+tt.want+`}]}]}`)
			o := parse(t, `{"name":"x","runs":[{"saved_memory":[{"user_input":`+tt.seen+`}]}]}`)
			diffs := enginetest.Compare(c, o)
			require.Equal(t, tt.same, len(diffs) == 0, diffs)
		})
	}
}

func parse(t testing.TB, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSON([]byte(text))
	require.NoError(t, err, text)
	return v
}

// contains reports whether a text has a word, without regard to case.
func contains(text, word string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(word))
}
