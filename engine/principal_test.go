package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// asPrincipal runs a canvas for a principal and returns its answer.
func asPrincipal(t *testing.T, c *engine.Canvas, st *engine.State, principal engine.Value) (said string, err error) {
	t.Helper()
	for e, err := range c.Run(t.Context(), st, engine.Input{UserID: "claimed"}, engine.Options{Principal: principal}) {
		if err != nil {
			return said, err
		}
		if e.Type == engine.EventMessage {
			said += e.Data().Get("content").Str()
		}
	}
	return said, nil
}

// sys.principal comes from the authentication of the host, never from a document or an earlier
// turn.
func TestPrincipalComesFromTheOptionsOnly(t *testing.T) {
	const message = `Message:M Message {"content":["{sys.principal.kind} {sys.principal.end_user} of {sys.user_id}"]}`
	forged := `=sys.principal {"kind": "login", "end_user": "forged"}`
	c, err := engine.Load(builtins(t), sketch.Bytes("begin Begin -> Message:M", message, forged,
		`=sys.principal.kind "login"`, `=sys.principal.end_user "forged"`))
	require.NoError(t, err)
	st := c.State()

	said, err := asPrincipal(t, c, st, engine.Object("kind", "embed", "end_user", "ann"))
	require.NoError(t, err)
	require.Equal(t, "embed ann of claimed", said)
	saved, err := engine.ParseJSON(c.Save(st))
	require.NoError(t, err)
	require.NotContains(t, saved.Get("globals").JSON(), "principal", "it is not stored for another turn")

	said, err = asPrincipal(t, c, st, engine.Object("kind", "key", "end_user", ""))
	require.NoError(t, err)
	require.Equal(t, "key  of claimed", said)

	said, err = asPrincipal(t, c, st, engine.Null)
	require.NoError(t, err)
	require.Equal(t, "local  of claimed", said)
}

// Bodies that run at once and nested canvases have the principal of the run around them.
func TestPrincipalOfBodies(t *testing.T) {
	c, err := engine.Load(builtins(t), sketch.Bytes(
		"begin Begin -> Iteration:I",
		`Iteration:I Iteration {"items_ref":"env.list","concurrency":2,
			"outputs":{"out":{"ref":"StringTransform:S@result"}}} -> Message:M`,
		"IterationItem:T IterationItem {} -> StringTransform:S ^ Iteration:I",
		`StringTransform:S StringTransform {"method":"merge","script":"{sys.principal.id}",
			"delimiters":[","]} ^ Iteration:I`,
		`Message:M Message {"content":["{Iteration:I@out}"]}`,
		`=env.list [1, 2]`))
	require.NoError(t, err)
	said, err := asPrincipal(t, c, c.State(), engine.Object("kind", "key", "id", "k1"))
	require.NoError(t, err)
	require.Contains(t, said, `k1`)
	require.NotContains(t, said, "sys.principal")
}

// No node sets it.
func TestPrincipalIsNotAssigned(t *testing.T) {
	for _, variable := range []string{"sys.principal", "sys.principal.end_user"} {
		c, err := engine.Load(builtins(t), sketch.Bytes("begin Begin -> VariableAssigner:V",
			`VariableAssigner:V VariableAssigner {"variables":[{"variable":"`+variable+
				`","operator":"set","parameter":"forged"}]} -> Message:M`,
			`Message:M Message {"content":["{sys.principal.end_user}"]}`))
		require.NoError(t, err)
		said, _ := asPrincipal(t, c, c.State(), engine.Object("end_user", "ann"))
		require.NotContains(t, said, "forged", variable)
	}
}

func TestPrincipalIsAKnownVariable(t *testing.T) {
	c := sketch.Bytes("begin Begin -> Message:M",
		`Message:M Message {"content":["{sys.principal} {sys.principal.user} {sys.principals}"]}`)
	var messages []string
	for _, d := range engine.Validate(builtins(t), c) {
		messages = append(messages, d.Message)
	}
	require.Len(t, messages, 1)
	require.Contains(t, messages[0], "{sys.principals}: no such variable")
	require.Contains(t, messages[0], "sys.principal", "it is suggested")
}
