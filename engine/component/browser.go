package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Browser lets a language model read web pages and store files from them.
//
// The model opens pages, follows links, submits forms, also with files, and stores files. Cookies
// last for the node, or with persist_session for the run. Differs: a window and extensions of the
// original's browser are not used, and a file of upload_sources that cannot be read is an error.
type Browser struct {
	External
	Sampling
	Prompts       engine.Expr   `json:"prompts" doc:"the task" default:"{sys.query}"`
	MaxSteps      int           `json:"max_steps" doc:"maximum number of actions" default:"30" min:"1"`
	Headless      bool          `json:"headless" doc:"not used: the browser has no window" default:"true"`
	Persist       bool          `json:"persist_session" doc:"share cookies with the other Browser nodes of the run" label:"Keep session"`
	UploadSources []engine.Expr `json:"upload_sources" doc:"files that forms may send: references, ids or addresses"`
}

// Run browses.
func (b *Browser) Run(ctx context.Context, call *engine.Call) error {
	args := []arg{{name: "prompts", param: &b.Prompts}}
	if len(b.UploadSources) > 0 {
		sources, err := evaluated(ctx, call, b.UploadSources)
		if err != nil {
			return err
		}
		given := engine.ParseExpr(sources)
		args = append(args, arg{name: "upload_sources", param: &given})
	}
	return b.act(ctx, call, args...)
}

var browserSpec = engine.Spec{
	Category: engine.CategoryTool, Icon: "globe",
	Name: "Browser", Waits: true,
	Doc:     "Lets a language model read web pages, follow links, submit forms and store files.",
	Ignores: []string{"enable_default_extensions", "chromium_sandbox"},
	New:     func() engine.Component { return &Browser{} },
	Outputs: []engine.Field{
		{Name: "content", Type: "string", Doc: "the answer"},
		{Name: "downloaded_files", Type: "list", Doc: "files: {file_id, name, size, parent_id}"},
	},
	Thoughts: "Using the browser.",
	StandIn: invents(func(args engine.Value) engine.Value {
		return engine.Object("content", notice("Browser", args), "downloaded_files", engine.List())
	}),
}
