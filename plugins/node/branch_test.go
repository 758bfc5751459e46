package node

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	builtin "github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/plugins/contract"
)

// sorter is a plugin that selects the branch in its argument.
type sorter struct{ manifest *contract.Manifest }

func (s sorter) Manifest() *contract.Manifest { return s.manifest }
func (sorter) Check(engine.Value) error       { return nil }

func (s sorter) Invoke(_ context.Context, _ *engine.Call, in Invocation) (contract.Answer, error) {
	message := engine.Object("outputs", engine.Object("text", "T"), "next", in.Arguments.Get("to"))
	return s.manifest.ReadAnswer(message.JSON())
}

// sorting loads a canvas with a sorter with the given params as JSON.
func sorting(t *testing.T, params string) *engine.Canvas {
	t.Helper()
	m, err := contract.ParseManifest([]byte(`{"abi":1,"name":"sorter","version":"1.0.0","description":"d",
		"arguments":{"type":"object","properties":{"to":{"type":"string"}}},
		"params":{"type":"object","required":["other"],"properties":{
			"spam":{"type":"array","items":{"type":"string"},"title":"Spam","x-easel-branch":true},
			"other":{"type":"array","items":{"type":"string"},"x-easel-branch":true}}}}`))
	require.NoError(t, err)
	shelf := &Shelf{Find: func(string) (Plugin, error) { return sorter{m}, nil }}
	registry, err := engine.NewRegistry(builtin.Builtin()...)
	require.NoError(t, err)
	registry.Plugin = shelf.Lookup
	c, err := engine.Load(registry, sketch.Bytes("begin Begin -> S", "S plugin:sorter@1 "+params+" -> A B",
		`A Message {"content":["a {S@text}"]}`, `B Message {"content":["b"]}`))
	require.NoError(t, err)
	return c
}

// finished are the nodes that a run finished after begin and S, and the error of the run.
func finished(t *testing.T, c *engine.Canvas) (nodes []string, failed string) {
	t.Helper()
	for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, engine.Options{Internal: true}) {
		if err != nil {
			return nodes, err.Error()
		}
		if e.Type == engine.EventNodeFinished && e.Node != "begin" && e.Node != "S" {
			nodes = append(nodes, e.Node)
		}
	}
	return nodes, ""
}

func TestPluginsChooseBranches(t *testing.T) {
	const targets = `"spam":["A"],"other":["B"]`
	for _, c := range []struct {
		name, params, failed string
		nodes                []string
	}{
		{"the first branch", `{"to":"spam",` + targets + `}`, "", []string{"A"}},
		{"the second branch", `{"to":"other",` + targets + `}`, "", []string{"B"}},
		{"a branch without edges", `{"to":"spam","spam":[],"other":["B"]}`, "", nil},
		{"a branch the manifest does not declare", `{"to":"ham",` + targets + `}`, `"ham" is not a branch`, nil},
		{"none", `{` + targets + `}`, `"" is not a branch`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes, failed := finished(t, sorting(t, c.params))
			require.Equal(t, c.nodes, nodes)
			if c.failed == "" {
				require.Empty(t, failed)
			} else {
				require.Contains(t, failed, c.failed)
			}
		})
	}
}

func TestBranchesAreValidated(t *testing.T) {
	var found []string
	for _, d := range sorting(t, `{"spam":["A"],"spma":["B"]}`).Validate() {
		if d.Node == "S" {
			found = append(found, string(d.Severity)+" "+string(d.Code)+" "+d.Param+": "+d.Message)
		}
	}
	require.Equal(t, []string{
		`error bad_param other: required parameter is missing; the node fails without it`,
		`warning unknown_param spma: unknown parameter, which has no effect; did you mean "spam"?`,
	}, found)
}

// An editor draws one handle for each branch.
func TestBranchesAreDescribed(t *testing.T) {
	m, err := contract.ParseManifest([]byte(`{"abi":1,"name":"x","version":"1.0.0","description":"d",
		"params":{"type":"object","properties":{"b":{"type":"array","x-easel-branch":true},"c":{"type":"string"},
		"a":{"type":"array","x-easel-branch":true}}}}`))
	require.NoError(t, err)
	spec := (&Shelf{}).spec("plugin:x@1", "x@1", m)
	described := spec.Describe()
	require.JSONEq(t, `[{"param":"a"},{"param":"b"}]`,
		described.Get("branches").JSON())
	require.Equal(t, "branch", described.Get("role").Str())
}
