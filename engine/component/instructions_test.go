package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

const callersAllowed = `@settings {"caller_instructions": true}`

// instructed runs turns of a canvas, each as the caller sends it, and returns the system prompts
// that the model got and the warnings.
func instructed(t *testing.T, turns []engine.Input, lines ...string) (systems, warnings []string) {
	t.Helper()
	reg, err := engine.NewRegistry(append(Builtin(), enginetest.EchoToolSpec())...)
	require.NoError(t, err)
	c, err := engine.Load(reg, sketch.Bytes(lines...))
	require.NoError(t, err)
	m := say("ok", "ok", "ok")
	st := c.State()
	opt := engine.Options{
		Ports: engine.Ports{Model: m, Clock: &enginetest.Clock{}, IDs: &enginetest.IDs{}}, Seed: 1, Internal: true,
	}
	for _, in := range turns {
		for e, err := range c.Run(t.Context(), st, in, opt) {
			require.NoError(t, err)
			if e.Type == engine.EventWarning {
				warnings = append(warnings, e.Data().Get("text").Text())
			}
		}
	}
	for _, req := range m.asked {
		systems = append(systems, req.System)
	}
	return systems, warnings
}

func TestInstructionsOfCallers(t *testing.T) {
	rude := engine.Input{Query: engine.String("hi"), Instructions: "be {sys.query}"}
	for _, c := range []struct {
		name, line, node string
		turns            []engine.Input
		systems          []string
		warns            bool
	}{
		{
			name: "off", line: `@settings {}`, node: `LLM {"sys_prompt": "be kind"}`, turns: []engine.Input{rude},
			systems: []string{"be kind"}, warns: true,
		},
		{
			name: "LLM", line: callersAllowed, node: `LLM {"sys_prompt": "be kind"}`, turns: []engine.Input{rude},
			systems: []string{"be kind\n\nbe {sys.query}"},
		},
		{
			name: "Agent", line: callersAllowed, node: `Agent {"sys_prompt": "be kind"}`, turns: []engine.Input{rude},
			systems: []string{"be kind\n\nbe {sys.query}"},
		},
		{
			name: "no prompt", line: callersAllowed, node: `LLM {}`, turns: []engine.Input{rude},
			systems: []string{"be {sys.query}"},
		},
		{
			name: "one turn only", line: callersAllowed, node: `LLM {}`,
			turns:   []engine.Input{rude, {Query: rude.Query}},
			systems: []string{"be {sys.query}", ""},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			systems, warnings := instructed(t, c.turns, "begin Begin -> X", "X "+c.node, c.line)
			require.Equal(t, c.systems, systems)
			if !c.warns {
				require.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			require.Contains(t, warnings[0], "caller_instructions")
		})
	}
}

func TestInstructionsStayWhileARunWaits(t *testing.T) {
	form := []string{
		"begin Begin -> F", `F UserFillUp {"inputs": {"city": {"name": "City", "type": "line"}}} -> X`, "X LLM {}",
		callersAllowed,
	}
	first := engine.Input{Query: engine.String("hi"), Instructions: "be brief"}
	answers := engine.Input{Inputs: engine.Object("city", "Oslo")}
	systems, _ := instructed(t, []engine.Input{first, answers}, form...)
	require.Equal(t, []string{"be brief"}, systems)
	answers.Instructions = "be long"
	systems, _ = instructed(t, []engine.Input{first, answers}, form...)
	require.Equal(t, []string{"be long"}, systems)
}

func TestInstructionsStayAfterACrash(t *testing.T) {
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	c, err := engine.Load(reg, sketch.Bytes("begin Begin -> A", "A LLM {} -> B", "B LLM {}", callersAllowed))
	require.NoError(t, err)
	opt := engine.Options{Checkpoints: true, Internal: true, Seed: 1}
	opt.Ports = engine.Ports{Model: say("ok", "ok"), Clock: &enginetest.Clock{}, IDs: &enginetest.IDs{}}
	whole := takeTurn(c, c.State(), c.Run(t.Context(), c.State(), engine.Input{Instructions: "be brief"}, opt))
	require.NoError(t, whole.err)
	m := &script{}
	crash(t, c, whole, func() engine.Model {
		m.replies = say("ok", "ok").replies
		return m
	}, func(turn) {})
	require.NotEmpty(t, m.asked)
	for _, req := range m.asked {
		require.Equal(t, "be brief", req.System)
	}
}

// The model nodes of a body get them too, whether its items run one by one or at once.
func TestInstructionsReachBodies(t *testing.T) {
	items := engine.Object("items", engine.Strings("a", "b"))
	in := engine.Input{Query: engine.String("hi"), Inputs: items, Instructions: "be brief"}
	for name, body := range map[string][]string{
		"Iteration": {`B Iteration {"items_ref": "begin@items"}`, "BI IterationItem -> X ^ B"},
		"Iteration, items at once": {
			`B Iteration {"items_ref": "begin@items", "concurrency": 2}`, "BI IterationItem -> X ^ B",
		},
		"Loop": {`B Loop {"maximum_loop_count": 2}`, "BI LoopItem -> X ^ B"},
	} {
		for setting, want := range map[string]string{callersAllowed: "be kind\n\nbe brief", "@settings {}": "be kind"} {
			lines := append([]string{"begin Begin -> B", `X LLM {"sys_prompt": "be kind"} ^ B`, setting}, body...)
			systems, _ := instructed(t, []engine.Input{in}, lines...)
			require.Equal(t, []string{want, want}, systems, name)
		}
	}
}

func TestInstructionsSettingIsABoolean(t *testing.T) {
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	_, err = engine.Load(reg, sketch.Bytes("begin Begin", `@settings {"caller_instructions": "yes"}`))
	require.ErrorContains(t, err, `settings: caller_instructions: is "yes"; expected true or false`)
}
