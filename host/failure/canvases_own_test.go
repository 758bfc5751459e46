package failure_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/plugins/tools"
)

// ownCanvases returns canvases that together hold every component: each tool as a node and as a
// tool of an agent, and the other components in canvases of their kind.
func ownCanvases(t *testing.T, registry *engine.Registry) []canvasToRun {
	texts := map[string]string{
		"every tool as a node":     toolsAsNodes(registry),
		"every tool of an agent":   toolsOfAnAgent(registry),
		"agents, forms, branches":  agentsFormsBranches,
		"containers and variables": containersAndVariables,
		"files and scripts":        filesAndScripts,
	}
	maps.Copy(texts, paramCanvases)
	var list []canvasToRun
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		var doc map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &doc), "%s: %s", name, text)
		list = append(list, canvasToRun{name, doc})
	}
	return list
}

// works reports whether a component works on a server: one whose service has no public API only
// reports that, and has no double.
func works(spec *engine.Spec) bool {
	all, _ := tools.All() // newServices has checked it
	for _, t := range all {
		if t.Component == spec.Name {
			_, err := os.Stat(doubleOf(t.Name()))
			return err == nil
		}
	}
	return spec.Missing == "" && !spec.Hidden && !spec.Pipeline
}

// serviceTools returns the components that call a service.
func serviceTools(registry *engine.Registry) (names []string) {
	for _, spec := range registry.Specs() {
		acts, ok := spec.New().(interface{ Needs() string })
		if ok && acts.Needs() == "Tools" && spec.Tool != nil && works(spec) {
			names = append(names, spec.Name)
		}
	}
	return names
}

// toolsAsNodes returns a chain of all tools, each with the query of the user.
func toolsAsNodes(registry *engine.Registry) string {
	lines := []string{"begin Begin"}
	for i, name := range serviceTools(registry) {
		params := map[string]string{
			"ExeSQL": `{"sql":"` + statement + `"}`, "TavilyExtract": `{"urls":"http://example.org"}`,
			"DocGenerator": `{"content":"# Coats","output_format":"docx"}`,
			"Email":        `{"content":"<p>Coats</p>"}`,
		}[name]
		lines = append(lines, fmt.Sprintf("%s:%d %s %s", name, i, name, params))
	}
	return sketch.Chain(append(lines, `Message:End Message {"content":["done"]}`)...)
}

// toolsOfAnAgent returns an agent that has all tools, a server of MCP and another agent.
func toolsOfAnAgent(registry *engine.Registry) string {
	tools := []string{
		`{"component_name":"Retrieval","name":"R","params":{"kb_ids":["shop"]}}`,
		`{"component_name":"CodeExec","name":"C","params":{}}`,
		`{"component_name":"Agent","name":"Sub","id":"Agent:Sub","params":{"llm_id":"","sys_prompt":"s",
			"tools":[{"component_name":"TavilySearch","name":"T","params":{}}]}}`,
	}
	for _, name := range serviceTools(registry) {
		tools = append(tools, fmt.Sprintf(`{"component_name":%q,"name":%q,"params":{}}`, name, name))
	}
	return sketch.Chain("begin Begin",
		`Agent:A Agent {"llm_id":"","sys_prompt":"Use every tool.","mcp":[{"mcp_id":"x"}],
			"tools":[`+strings.Join(tools, ",")+`]}`,
		`Message:End Message {"content":["{Agent:A@content}"]}`)
}

// agentsFormsBranches pauses for a form, categorizes the question and answers with the hits of a
// search.
var agentsFormsBranches = sketch.Canvas(
	`begin Begin {"inputs":{"city":{"name":"City","type":"line","optional":false}}} -> Retrieval:R`,
	`Retrieval:R Retrieval {"kb_ids":["shop"],"query":"{sys.query}"} -> LLM:L`,
	`LLM:L LLM {"llm_id":"","sys_prompt":"Say where {begin@city} lies.",
		"outputs":{"structured":{"type":"object","properties":{"city":{"type":"string"}}}}} -> UserFillUp:F`,
	`UserFillUp:F UserFillUp {"tips":"{LLM:L@structured}","inputs":{"ok":{"name":"ok","type":"boolean"}},
		"outputs":{"ok":{"type":"boolean"}}} -> Categorize:C`,
	`Categorize:C Categorize {"llm_id":"","query":"sys.query","category_description":{
		"buy":{"description":"x","examples":["x"],"to":["Agent:A"]},"ask":{"to":["Agent:B"]}}}
		-> Agent:A Agent:B`,
	`Agent:A Agent {"llm_id":"","sys_prompt":"s","tools":[
		{"component_name":"Retrieval","name":"R","params":{}}]} -> VariableAggregator:V`,
	`Agent:B Agent {"llm_id":"","sys_prompt":"s","mcp":[{"mcp_id":"x"}]} -> VariableAggregator:V`,
	`VariableAggregator:V VariableAggregator {"groups":[{"group_name":"answer","type":"string",
		"variables":[{"value":"Agent:A@content"},{"value":"Agent:B@content"}]}],
		"outputs":{"answer":{"type":"string"}}} -> Switch:S`,
	`Switch:S Switch {"conditions":[{"logical_operator":"and","to":["Message:Y"],
		"items":[{"cpn_id":"VariableAggregator:V@answer","operator":"contains","value":"goods"}]}],
		"end_cpn_ids":["Message:N"]} -> Message:Y Message:N`,
	`Message:Y Message {"content":["{VariableAggregator:V@answer}"]}`,
	`Message:N Message {"content":["nothing"]}`,
)

// containersAndVariables goes through a list, and through a loop until a variable is set.
var containersAndVariables = sketch.Canvas(
	`@variables {"env.list":{"type":"array","value":[]}}`, "=env.n 0", `=env.list [{"a":"1"}]`,
	"begin Begin -> StringTransform:T",
	`StringTransform:T StringTransform {"method":"split","split_ref":"sys.query","delimiters":[" "]} -> Iteration:I`,
	`Iteration:I Iteration {"items_ref":"StringTransform:T@result",
		"outputs":{"all":{"ref":"StringTransform:U@result","type":"Array<string>"}}} -> Loop:L`,
	"IterationItem:I IterationItem -> StringTransform:U ^ Iteration:I",
	`StringTransform:U StringTransform {"method":"merge","script":"<{IterationItem:I@item}>"} ^ Iteration:I`,
	`Loop:L Loop {"loop_variables":[{"variable":"n","input_mode":"constant","type":"number","value":0}],
		"loop_termination_condition":[{"variable":"Loop:L@n","operator":"≥","input_mode":"constant","value":100}],
		"logical_operator":"and","maximum_loop_count":3} -> ListOperations:O`,
	"LoopItem:L LoopItem -> VariableAssigner:A ^ Loop:L",
	`VariableAssigner:A VariableAssigner {"variables":[{"variable":"Loop:L@n","operator":"set","parameter":5}]}
		-> ExitLoop:E ^ Loop:L`,
	"ExitLoop:E ExitLoop ^ Loop:L",
	`ListOperations:O ListOperations {"query":"StringTransform:T@result","operations":"sort"} -> DataOperations:D`,
	`DataOperations:D DataOperations {"query":["env.list"],"operations":"select_keys","select_keys":["a"]}
		-> Message:M`,
	`Message:M Message {"content":["{Iteration:I@all} {ListOperations:O@first} {DataOperations:D@result}"]}`,
)

// filesAndScripts writes and reads files, runs scripts of both languages and another canvas, and
// sends a web request.
var filesAndScripts = sketch.Canvas(
	"begin Begin -> CodeExec:P",
	`CodeExec:P CodeExec {"lang":"python",
		"script":"def main(q):\n    return {'rows': [{'q': q.upper()}]}",
		"arguments":{"q":"sys.query"},"outputs":{"rows":{"type":"Array<Object>"}}} -> CodeExec:J`,
	`CodeExec:J CodeExec {"lang":"javascript",
		"script":"function main({rows}) { return {n: rows.length} }",
		"arguments":{"rows":"CodeExec:P@rows"},"outputs":{"n":{"type":"Number"}}} -> ExcelProcessor:W`,
	`ExcelProcessor:W ExcelProcessor {"operation":"output","transform_data":"CodeExec:P@rows"} -> ExcelProcessor:R`,
	`ExcelProcessor:R ExcelProcessor {"operation":"read","input_files":["ExcelProcessor:W@attachment"]}
		-> DocGenerator:D`,
	`DocGenerator:D DocGenerator {"content":"{CodeExec:J@n}","output_format":"pdf"} -> Invoke:I`,
	"Invoke:I Invoke -> Browser:B",
	"Browser:B Browser -> Canvas:C",
	`Canvas:C Canvas {"version":"draft"} -> Message:M`,
	`Message:M Message {"content":["{ExcelProcessor:R@markdown}"],"output_format":"docx"}`,
)
