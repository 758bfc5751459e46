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
	Prompts       engine.Expr   `json:"prompts" label:"Task" doc:"what to find or do on the web" section:"prompt" want:"Enter the task." default:"{sys.query}"`
	MaxSteps      int           `json:"max_steps" label:"Steps at most" doc:"maximum number of actions" section:"advanced" default:"30" min:"1"`
	Headless      bool          `json:"headless" label:"Without a window" doc:"not used: the browser has no window" hidden:"true" default:"true"`
	Persist       bool          `json:"persist_session" label:"Keep cookies" doc:"shares cookies with the other browser steps of the run" section:"advanced"`
	UploadSources []engine.Expr `json:"upload_sources" label:"Files it may send" doc:"files that web forms may get" shape:"references, ids or addresses" widget:"files"`
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
	Category: engine.CategoryTool, Group: engine.GroupCode, Icon: "globe",
	Name:  "Browser",
	Title: "Browse the web", Search: []string{"click", "login", "web agent", "网页"}, First: "prompts",
	Waits:   true,
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
