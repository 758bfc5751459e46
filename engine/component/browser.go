package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Browser lets a language model read web pages and store files from them.
//
// The model opens pages, follows links, submits forms and stores files. Cookies last for the node,
// or with persist_session for the run. Differs: a window, uploads and extensions of the original's
// browser are not used.
type Browser struct {
	External
	Sampling
	Prompts       engine.Expr   `json:"prompts" doc:"the task" default:"{sys.query}"`
	MaxSteps      int           `json:"max_steps" doc:"maximum number of actions" default:"30" min:"1"`
	Headless      bool          `json:"headless" doc:"not used: the browser has no window" default:"true"`
	Persist       bool          `json:"persist_session" doc:"share cookies with the other Browser nodes of the run" label:"Keep session"`
	UploadSources []engine.Expr `json:"upload_sources" doc:"not used: the browser uploads nothing"`
}

// Run browses.
func (b *Browser) Run(ctx context.Context, call *engine.Call) error {
	return b.act(ctx, call, arg{"prompts", &b.Prompts})
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
