package contract

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestReadAnswer(t *testing.T) {
	m := &Manifest{Outputs: schemaOf(t,
		`{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}`)}
	for _, c := range []struct{ name, message, want string }{
		{"a string", `"hi"`, ""},
		{"outputs", `{"outputs":{"text":"a","n":9007199254740993}}`, ""},
		{"invalid JSON", `{`, "bad_output: output is not the JSON of the contract: invalid JSON"},
		{"a number", `3`, "bad_output: output: want object, got number"},
		{"missing outputs", `{}`, "bad_output: outputs: missing"},
		{"outputs as a list", `{"outputs":[]}`, "bad_output: outputs: want object, got array"},
		{"an output of the wrong type", `{"outputs":{"text":1}}`, "bad_output: outputs.text: want string, got number"},
		{"a missing output", `{"outputs":{}}`, "bad_output: outputs.text: missing"},
		{
			"artifacts of the wrong type",
			`{"outputs":{"text":""},"artifacts":[1]}`, "bad_output: output.artifacts: want object",
		},
		{
			"a citation without an id", `{"outputs":{"text":""},"citations":[{"content":"c"}]}`,
			"bad_output: output.citations: id",
		},
		{
			"usage that is a list", `{"outputs":{"text":""},"usage":[]}`,
			"bad_output: output.usage: want object, got array",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := m.ReadAnswer(c.message)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
	a, err := m.ReadAnswer(`{"outputs":{"text":"t","n":9007199254740993},
		"artifacts":[{"name":"n","mime":"m","ref":"r"}],"usage":{"prompt_tokens":3,"completion_tokens":1e30}}`)
	require.NoError(t, err)
	require.Equal(t, `{"text":"t","n":9007199254740993}`, a.Outputs.JSON())
	require.Equal(t, []Artifact{{"n", "m", "r"}}, a.Artifacts)
	require.Equal(t, engine.Usage{Prompt: 3, Completion: 1<<31 - 1}, a.Usage)
	a, err = m.ReadAnswer(`{"outputs":{"text":""},"usage":{"total_tokens":5}}`)
	require.NoError(t, err)
	require.Equal(t, engine.Usage{Prompt: 5}, a.Usage)
}

// many joins n pieces to the members of an object or a list.
func many(n int, piece func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = piece(i)
	}
	return strings.Join(parts, ",")
}

// hostileOutputs are messages that would cost a host much more than their bytes.
func hostileOutputs() map[string]string {
	member := func(i int) string { return fmt.Sprintf(`"o%d":1`, i) }
	return map[string]string{
		"257 outputs": `{"outputs":{` + many(257, member) + `}}`,
		"257 citations": `{"outputs":{},"citations":[` + many(257,
			func(int) string { return `{"id":"a"}` }) + `]}`,
		"100,000 outputs":      `{"outputs":{` + many(100_000, member) + `}}`,
		"a wide object":        `{"outputs":{"a":{` + many(300_000, member) + `}}}`,
		"65 levels":            `{"outputs":` + strings.Repeat(`{"a":`, 64) + "{}" + strings.Repeat("}", 64) + `}`,
		"lists in lists":       `{"outputs":{"a":[` + many(200_000, func(int) string { return "[[[]]]" }) + `]}}`,
		"6 million empty ones": `{"outputs":{"a":[` + strings.Repeat("{},", 4_000_000) + `{}]}}`,
		"a list of zeros":      `{"outputs":{"a":[` + strings.Repeat("0,", 2_000_000) + `0]}}`,
	}
}

// TestOutputsAreBounded reads hostile messages: each is refused, with memory and time that its
// size limits.
func TestOutputsAreBounded(t *testing.T) {
	for name, message := range hostileOutputs() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err := (&Manifest{}).ReadAnswer(message)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, OutputTooLarge)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, 10*uint64(len(message))+2<<20)
			require.Less(t, took, time.Minute, "linear in its bytes")
			require.Less(t, len(err.Error()), 300)
		})
	}
	for name, message := range map[string]string{
		"256 outputs": `{"outputs":{` + many(256, func(i int) string { return fmt.Sprintf(`"o%d":1`, i) }) + `}}`,
		"64 levels":   `{"outputs":` + strings.Repeat(`{"a":`, 62) + "1" + strings.Repeat("}", 62) + `}`,
		"a table": `{"outputs":{"rows":[` + many(10_000,
			func(i int) string { return fmt.Sprintf(`{"id":%d,"name":"row %d"}`, i, i) }) + `]}}`,
		"a long text":  `"` + strings.Repeat("a", 8<<20) + `"`,
		"broken UTF-8": `"` + strings.Repeat("\xff", 1<<20) + `"`,
	} {
		_, err := (&Manifest{}).ReadAnswer(message)
		require.NoError(t, err, name)
	}
}

func TestInputMessage(t *testing.T) {
	require.Equal(t, `{"abi":1,"call":{"id":"c","attempt":1,"deadline_ms":0},"params":{}}`,
		CallInfo{ID: "c", Left: -time.Second}.Input(engine.Null, engine.Null).JSON())
	info := CallInfo{
		ID: "c", Run: "r", Node: "P:0", Attempt: 3, Left: 1500 * time.Millisecond, Locale: "de",
		Preview: true, SecretMark: "m",
	}
	require.Equal(t, `{"abi":1,"call":{"id":"c","run":"r","node":"P:0","attempt":3,"deadline_ms":1500,"locale":"de",`+
		`"preview":true,"secret_mark":"m"},"params":{"a":1.0},"arguments":{}}`,
		info.Input(parse(t, `{"a":1.0}`), engine.Object()).JSON())
}

func TestUnmarked(t *testing.T) {
	v := parse(t, `{"a":["{{secret:K:mark}}","x"],"n":1.50}`)
	require.Equal(t, `{"a":["{{secret:K}}","x"],"n":1.50}`, Unmarked(v, "mark").JSON())
	require.Equal(t, v.JSON(), Unmarked(v, "other").JSON())
	require.Equal(t, v.JSON(), Unmarked(v, "").JSON())
}
