package enginetest_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func registry(t *testing.T) *engine.Registry {
	t.Helper()
	reg, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	return reg
}

func readCase(t *testing.T, name string) *enginetest.Case {
	t.Helper()
	data, err := os.ReadFile("../testdata/cases/" + name + ".json")
	require.NoError(t, err)
	c, err := enginetest.ParseCase(data)
	require.NoError(t, err)
	return c
}

func TestPlayNeedsARegistry(t *testing.T) {
	_, err := enginetest.Play(t.Context(), nil, readCase(t, "begin_only"))
	require.ErrorContains(t, err, "Registry is nil")
}

func TestPlayLeavesTheRegistryAlone(t *testing.T) {
	reg := registry(t)
	_, err := enginetest.Play(t.Context(), reg, readCase(t, "tool_input_text"))
	require.NoError(t, err)
	_, err = reg.Lookup("EchoTool")
	require.ErrorIs(t, err, engine.ErrUnknownComponent)
}

func TestPlayContinuesAfterALoadError(t *testing.T) {
	c := readCase(t, "bad_param")
	c.Runs = append(c.Runs, c.Runs[0])
	observed, err := enginetest.Play(t.Context(), registry(t), c)
	require.NoError(t, err)
	for _, r := range observed.Get("runs").Elements() {
		require.Contains(t, r.Get("load_error").Text(), "Message:A")
	}
}

// TestRecord plays a case with its stand-ins as if they were real ports. The recorded case matches
// the observation, and so does playing the record again without those ports.
func TestRecord(t *testing.T) {
	for _, name := range []string{
		"chain_basic", "llm_stream", "llm_stream_think", "agent_one_tool", "fillup_resume", "error_no_handler",
		"conversation_three_turns", "citation_llm", "message_memory", "bad_param", "missing_downstream",
		"debug_component",
		"fanin_parallel_lengths_llm", "llm_error_stream_none", "message_tts",
	} {
		t.Run(name, func(t *testing.T) {
			c := readCase(t, name)
			player := &enginetest.Player{Registry: registry(t), Concurrency: 1}
			observed, err := player.Play(t.Context(), c)
			require.NoError(t, err)
			made := enginetest.Record(name, "", c.DSL, c.Runs, observed)
			require.Equal(t, enginetest.ExpectRecorded, made.Expect)
			require.Empty(t, enginetest.Compare(made.Value(), observed))

			var script []enginetest.Reply
			inputs := append([]enginetest.Run(nil), c.Runs...)
			for i := range inputs {
				script = append(script, inputs[i].Script...)
				inputs[i].Script, inputs[i].Fallback = nil, nil
			}
			player.Ports.Model = &enginetest.Model{Script: script}
			made, err = player.Record(t.Context(), name, "", c.DSL, inputs)
			require.NoError(t, err)
			read, err := enginetest.ReadCase(made.Value())
			require.NoError(t, err)
			require.True(t, engine.Equal(made.Value(), read.Value()))
		})
	}
}

func TestRecordNeedsPortsItCanPlayAgain(t *testing.T) {
	dsl, err := engine.ParseJSONText(sketch.Canvas(
		"begin Begin -> CodeExec:C",
		`CodeExec:C CodeExec {"lang": "python", "script": "x"}`,
	))
	require.NoError(t, err)
	player := &enginetest.Player{Registry: registry(t)}
	player.Ports.Code = &enginetest.Code{Result: engine.CodeResult{Value: engine.String("found")}}
	made, err := player.Record(t.Context(), "x", "", dsl, []enginetest.Run{{}})
	require.NotNil(t, made)
	require.ErrorContains(t, err, "without the real ports it differs")
}

// A request that was recorded is answered from the case; one that was not fails and is not sent.
func TestRecordedRequestsAreAnswered(t *testing.T) {
	c := readCase(t, "invoke_get")
	player := &enginetest.Player{Registry: registry(t)}
	player.Ports.HTTP = elsewhere{}
	made, err := player.Record(t.Context(), "x", "", c.DSL, c.Runs)
	require.NoError(t, err)
	require.Equal(t, "Invoke", made.Runs[0].Tools[0].Component)
	require.Equal(t, "other", made.Runs[0].Tools[0].Result.Get("body").Str())
	made.Runs[0].Tools[0].Arguments = made.Runs[0].Tools[0].Arguments.With("method", engine.String("PUT"))
	seen, err := enginetest.Play(t.Context(), registry(t), made)
	require.NoError(t, err)
	require.Contains(t, seen.JSON(), "Invoke: no answer is recorded for the arguments")
}

// A member that says where a run begins or ends is not ignored: the run would be another one.
func TestPartsOfRunsAreChecked(t *testing.T) {
	for run, reason := range map[string]string{
		`{"start":5}`: "start is of type number; expected object", `{"start":[]}`: "start is of type list",
		`{"start":{},"rerun":"yes"}`: "rerun is of type string", `{"rerun":true}`: "rerun needs start",
		`{"pins":"x"}`: "pins is of type string", `{"until":["a"]}`: "until is of type list",
		`{"until":{}}`:     "until is of type object",
		`{"canvases":[1]}`: "canvases is of type list", `{"servers":1}`: "servers is of type number",
		`{"seed":1}`:                   "seed is of type number",
		`{"seed":"zz"}`:                `seed "zz" is not a hexadecimal number`,
		`{"seed":"10000000000000000"}`: "64 bits",
	} {
		_, err := enginetest.ParseCase([]byte(`{"name":"n","dsl":{},"runs":[` + run + `]}`))
		require.ErrorContains(t, err, reason, run)
	}
	c, err := enginetest.ParseCase([]byte(`{"name":"n","dsl":{},"runs":[{"start":null,"seed":"ffffffffffffffff"}]}`))
	require.NoError(t, err)
	require.Equal(t, "ffffffffffffffff", c.Value().Get("runs").At(0).Get("seed").Str())
}
