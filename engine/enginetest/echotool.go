package enginetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// EchoTool is a component whose params define its behaviour. It can be a node and a tool of an
// agent.
//
// In: query, string. Out: formalized_content, string.
type EchoTool struct {
	Query        engine.Expr  `json:"query" doc:"what is asked for"`
	Replies      engine.Value `json:"replies" doc:"query -> reply"`
	DefaultReply string       `json:"default_reply" doc:"reply to any other query"`
	FailOn       []string     `json:"fail_on" doc:"queries it fails on"`
	Chunks       engine.Value `json:"chunks" doc:"passages added as references on each call"`
	DocAggs      engine.Value `json:"doc_aggs" doc:"documents of the passages"`
	SleepMS      int          `json:"sleep_ms" doc:"milliseconds to wait first" min:"0"`
	Cancel       bool         `json:"cancel" doc:"set the cancel flag of the run, then notice it"`
}

// EchoToolSpec describes EchoTool. It is hidden: palettes and tables do not show it.
func EchoToolSpec() engine.Spec {
	return engine.Spec{
		Name:    "EchoTool",
		Doc:     "Gives scripted replies; for tests.",
		New:     func() engine.Component { return &EchoTool{} },
		Hidden:  true,
		Inputs:  []engine.Field{{Name: "query", Type: "string", Doc: "what is asked for", Required: true}},
		Outputs: []engine.Field{{Name: "formalized_content", Type: "string", Doc: "the reply"}},
		Tool: &engine.ToolSpec{
			Function:    "echo_tool",
			Description: "Gives the reply to a query.",
			Args:        []engine.Field{{Name: "query", Type: "string", Doc: "what is asked for", Required: true}},
			Result:      "formalized_content",
		},
	}
}

// Run answers the query.
func (e *EchoTool) Run(ctx context.Context, call *engine.Call) error {
	v, _, err := call.Arg(ctx, "query", &e.Query)
	if err != nil {
		return err
	}
	query := v.Text()
	if e.SleepMS > 0 {
		if err := call.Sleep(ctx, time.Duration(e.SleepMS)*time.Millisecond); err != nil {
			return err
		}
	}
	if e.Cancel {
		call.CancelRun()
		return call.Canceled()
	}
	if slices.Contains(e.FailOn, query) {
		return fmt.Errorf("tool failed on: %s", query)
	}
	if e.Chunks.Len() > 0 || e.DocAggs.Len() > 0 {
		call.Cite(slices.Collect(elements(e.Chunks)), slices.Collect(elements(e.DocAggs)))
	}
	reply := e.DefaultReply
	if r, ok := e.Replies.Lookup(query); ok {
		reply = r.Text()
	}
	call.Out("formalized_content", engine.String(reply))
	return nil
}

var _ engine.Component = (*EchoTool)(nil)
