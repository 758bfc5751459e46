package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestVariablesDefineEnv(t *testing.T) {
	const canvas = `{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Message:A"]},
		"Message:A": {"obj": {"component_name": "Message", "params": {"content": ["{env.city}|{env.n}|{env.on}"]}}, ` +
		`"downstream": []}
	}, "variables": {"city": {"type": "string", "value": "Oslo"}, "n": {"type": "number"}, "on": {"type": "boolean", ` +
		`"value": true}}`
	for name, tt := range map[string]struct{ state, want string }{
		"no globals":          {``, "Oslo|0|true"},
		"other globals":       {`, "globals": {"env.x": 1}`, "Oslo|0|true"},
		"blank globals":       {`, "globals": {"env.city": "", "env.n": null, "env.on": ""}`, "Oslo|0|true"},
		"globals with values": {`, "globals": {"env.city": "Rome", "env.n": 5, "env.on": false}`, "Rome|5|false"},
		"a blank that a run left": {`, "globals": {"env.city": "", "env.n": 1, "env.on": true}, "history": ` +
			`[["user", "hi"]]`, "|1|true"},
		"a variable is added later": {`, "globals": {"env.city": "Rome"}, "history": [["user", "hi"]]`, "Rome|0|true"},
	} {
		t.Run(name, func(t *testing.T) {
			reg, doc := builtins(t), []byte(canvas+tt.state+`}`)
			require.Empty(t, engine.Validate(reg, doc))
			c, err := engine.Load(reg, doc)
			require.NoError(t, err)
			st := c.State()
			for _, err := range c.Run(t.Context(), st, engine.Input{Query: engine.String("q")}, engine.Options{}) {
				require.NoError(t, err)
			}
			said, _ := st.Output("Message:A", "content")
			require.Equal(t, tt.want, said.Text())
			again, err := engine.Load(reg, c.Save(st))
			require.NoError(t, err)
			city, _ := st.Global("env.city")
			kept, _ := again.State().Global("env.city")
			require.Equal(t, city, kept, "saved and loaded")
		})
	}
}
