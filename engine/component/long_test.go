package component_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// Errors and problems of a document cut quoted values at a rune, and include their length.
func TestQuotedValuesAreCut(t *testing.T) {
	registry, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	long := strings.Repeat("é漢x", 20_000)
	ascii := strings.Repeat("x1", 1_500) // of which references are made
	node := func(id, name, params, more string) string {
		return fmt.Sprintf(`%q:{"obj":{"component_name":%q,"params":%s}%s}`, id, name, params, more)
	}
	begin := node("begin", "Begin", "{}", `,"downstream":["N"]`)
	// of is a canvas with a node N; each verb of its params is the long text.
	of := func(kind, params string) string {
		args := make([]any, strings.Count(params, "%q"))
		for i := range args {
			args[i] = long
		}
		return begin + "," + node("N", kind, fmt.Sprintf(params, args...), "")
	}
	refers := func(reference string) string {
		return begin + "," + node("N", "LLM", `{"sys_prompt":"{`+reference+`}"}`, "")
	}
	for name, components := range map[string]string{
		"node id":         begin + "," + node(long, "LLM", `{"temperature":"x"}`, ""),
		"component":       begin + "," + node("N", long, "{}", ""),
		"params":          begin + "," + node("N", "LLM", fmt.Sprintf("%q", long), ""),
		"number":          of("LLM", `{"temperature":%q}`),
		"unknown param":   of("LLM", `{%q:1}`),
		"reference":       refers("LLM:" + ascii + "@content"),
		"output":          refers("N@" + ascii),
		"variable":        refers("env." + ascii),
		"goto":            of("LLM", `{"exception_method":"goto","exception_goto":[%q]}`),
		"downstream":      begin + "," + node("N", "LLM", "{}", fmt.Sprintf(`,"downstream":[%q]`, long)),
		"downstream text": begin + "," + node("N", "LLM", "{}", fmt.Sprintf(`,"downstream":{%q:1}`, long)),
		"parent":          begin + "," + node("N", "LLM", "{}", fmt.Sprintf(`,"parent_id":%q`, long)),
		"operator": of("Switch",
			`{"conditions":[{"items":[{"cpn_id":"sys.query","operator":%q}],"to":["begin"]}]}`),
		"list operation":  of("ListOperations", `{"query":"sys.files","operations":%q}`),
		"language":        of("CodeExec", `{"lang":%q,"script":"x"}`),
		"tool":            of("Agent", `{"tools":[{"component_name":%q,"params":{}}]}`),
		"assign operator": of("VariableAssigner", `{"variables":[{"variable":"env.x","operator":%q,"parameter":"x"}]}`),
		"string method":   of("StringTransform", `{"method":%q}`),
		"loop operator": of("Loop",
			`{"loop_termination_condition":[{"variable":"x","operator":%q}],"logical_operator":%q}`),
		"iteration items": of("Iteration", `{"items_ref":%q}`),
		"webhook mode": node("begin", "Begin",
			fmt.Sprintf(`{"mode":%q,"inputs":{%q:{"type":%q}}}`, long, long, long), ""),
		"a near id": refers("LLM:"+ascii+"1@content") + "," + node("LLM:"+ascii, "LLM", `{}`, ""),
	} {
		t.Run(name, func(t *testing.T) {
			document := []byte(`{"components":{` + components + `}}`)
			var texts []string
			if _, err := engine.Load(registry, document); err != nil {
				texts = append(texts, err.Error())
			}
			for _, p := range engine.Validate(registry, document) {
				texts = append(texts, p.Message)
			}
			require.NotEmpty(t, texts)
			for _, text := range texts {
				require.Less(t, len(text), 2000, text[:min(len(text), 300)])
				require.True(t, utf8.ValidString(text))
			}
		})
	}
}
