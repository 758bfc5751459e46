package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// A canvas lists what its nodes and their tools name, without references.
func TestNamedObjects(t *testing.T) {
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	canvas, err := engine.Load(reg, []byte(sketch.Chain(
		"begin Begin",
		`Retrieval:A Retrieval {"kb_ids":["shop","{begin@kb}","begin@kb"],"dataset_ids":["tea"],
			"memory_ids":["unused"]}`,
		`Retrieval:B Retrieval {"retrieval_from":"memory","kb_ids":["unused"],"memory_ids":["notes"]}`,
		`Agent:C Agent {"llm_id":"m","prompts":[{"role":"user","content":"x"}],"tools":[
			{"component_name":"Retrieval","name":"Find","params":{"kb_ids":["guides"]}},
			{"component_name":"Agent","name":"Sub","params":{"llm_id":"m","tools":[
				{"component_name":"Canvas","name":"Other","params":{"canvas":"faq"}}]}}]}`,
		`Canvas:D Canvas {"canvas":"inner"}`,
		`Agent:F Agent {"llm_id":"m","prompts":[{"role":"user","content":"x"}],"mcp":[
			{"mcp_id":"tickets","tools":{"open":{}}},{"url":"https://x.org/mcp"}]}`,
		`Message:E Message {"content":["x"],"memory_ids":["diary"]}`,
	)))
	require.NoError(t, err)
	require.Equal(t, []engine.Named{
		{Kind: engine.NamedDataset, Name: "shop", Param: "kb_ids", Node: "Retrieval:A"},
		{Kind: engine.NamedDataset, Name: "tea", Param: "dataset_ids", Node: "Retrieval:A"},
		{Kind: engine.NamedMemory, Name: "notes", Param: "memory_ids", Node: "Retrieval:B"},
		{Kind: engine.NamedDataset, Name: "guides", Param: "kb_ids", Node: "Agent:C"},
		{Kind: engine.NamedCanvas, Name: "faq", Param: "canvas", Node: "Agent:C"},
		{Kind: engine.NamedCanvas, Name: "inner", Param: "canvas", Node: "Canvas:D"},
		{Kind: engine.NamedServer, Name: "tickets", Param: "mcp", Mild: true, Node: "Agent:F"},
		{Kind: engine.NamedTool, Name: "open", Server: "tickets", Param: "mcp", Mild: true, Node: "Agent:F"},
		{Kind: engine.NamedMemory, Name: "diary", Param: "memory_ids", Mild: true, Node: "Message:E"},
	}, engine.NamedIn(canvas))
}
