// Package placetest contains canvases that run one component, for tests of the list of components.
package placetest

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// closed is an address without a listener.
const closed = "http://127.0.0.1:1"

// params are params with which components load and run. Others use those of outside.
var params = map[string]string{
	"Categorize": `{"category_description": {"a": {"description": "x", "examples": ["x"], "to": ["M"]}}}`,
	"Switch": `{"conditions": [{"logical_operator": "and", "to": ["M"],
		"items": [{"cpn_id": "sys.query", "operator": "contains", "value": "x"}]}], "end_cpn_ids": ["M"]}`,
	"Iteration":          `{"items_ref": "sys.history"}`,
	"Loop":               `{"loop_variables": [], "loop_termination_condition": [], "maximum_loop_count": 1}`,
	"CodeExec":           `{"lang": "javascript", "script": "function main() { return 1 }"}`,
	"Invoke":             `{"url": "` + closed + `", "method": "get"}`,
	"StringTransform":    `{"method": "merge", "script": "x"}`,
	"Retrieval":          `{"kb_ids": ["x"], "query": "{sys.query}"}`,
	"VariableAssigner":   `{"variables": []}`,
	"VariableAggregator": `{"groups": [{"group_name": "g", "variables": [{"value": "sys.query"}]}]}`,
	"Message":            `{"content": ["x"]}`,
	"ExeSQL": `{"db_type": "mysql", "host": "127.0.0.1", "port": 1, "database": "x", "username": "x",
		"password": "x", "sql": "select 1"}`,
	"Email": `{"smtp_server": "127.0.0.1", "smtp_port": 1, "email": "a@example.org", "password": "x",
		"to_email": "b@example.org", "content": "x", "subject": "x"}`,
	"Canvas": `{"canvas": "x"}`, "Extractor": `{"field_name": "summary"}`,
	"TitleChunker":   `{"levels": [["^# "]], "hierarchy": 1}`,
	"DocGenerator":   `{"content": "x", "output_format": "txt"}`,
	"ListOperations": `{"query": "sys.history", "operations": "sort"}`,
	"DataOperations": `{"query": ["sys.history"], "operations": "select_keys"}`,
	"UserFillUp":     `{}`, "LLM": `{}`, "Agent": `{}`, "Begin": `{}`,
}

// outside are params of a component that calls an unavailable service.
const outside = `{"base_url": "` + closed + `", "searxng_url": "` + closed + `", "api_key": "x", "token": "x",
	"auth_key": "x", "web_apikey": "x", "query": "{sys.query}", "urls": "` + closed + `",
	"max_retries": 0, "delay_after_error": 0}`

// Canvas returns a canvas that runs a component once, and then a Message M.
func Canvas(s *engine.Spec) []byte {
	set, ok := params[s.Name]
	if !ok {
		set = outside
	}
	node := []string{"X " + s.Name + " " + set + " -> M"}
	switch s.Name {
	case "Iteration", "IterationItem":
		node = within("Iteration", `Y Message {"content":["inside"]} ^ X`)
	case "Loop", "LoopItem", "ExitLoop":
		node = within("Loop", "Y ExitLoop ^ X")
	case "Begin":
		node = []string{`X Message {"content":["x"]} -> M`}
	}
	return sketch.Bytes(append(node, "begin Begin -> X", `M Message {"content":["done"]}`)...)
}

// within returns a container X with its item, and a node Y inside.
func within(container, node string) []string {
	return []string{
		"X " + container + " " + params[container] + " -> M",
		container + "Item:I " + container + "Item -> Y ^ X", node,
	}
}

// Lacks reports whether the error of a run means that the place does not meet a requirement of a
// component, in contrast to an unavailable service or a wrong setting.
func Lacks(text string) bool {
	for _, words := range []string{
		engine.ErrNoPort.Error(), "works only where", "does not run", "do not run", "Stand-in",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
