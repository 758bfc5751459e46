package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

var userFillUpSpec = engine.Spec{
	Name:  "UserFillUp",
	Title: "Ask the user", Search: []string{"form", "human", "input", "wait", "question", "人工", "确认"},
	Category: engine.CategoryConversation, Icon: "form",
	AnyCase: true,
	Doc:     "Shows a form to the user. The run pauses until it is submitted.",
	New:     func() engine.Component { return new(UserFillUp) },
	Outputs: []engine.Field{
		{Name: "tips", Type: "string", Doc: "the text shown above the form"},
		{Name: "*", Type: "any", Doc: "each answer under the name of its field"},
	},
	Waits:    true, // its tips may contain references, which would be empty if asked too early
	Thoughts: "Waiting for your input.",
}

// UserFillUp pauses the run for a form.
//
// In: the answers, as inputs of the run that resumes. Out: one output per answer, as of Begin, and
// tips. A declared field without an answer is null, also when the form was answered before.
//
// Source: RAGFlow agent/component/fillup.py at 80a16e71 (behaviour only). Differs: tips are
// substituted as they are, including backslashes; answers are also listed as inputs.
type UserFillUp struct {
	EnableTips bool         `json:"enable_tips" label:"Show a text above" doc:"show the tips" default:"true"`
	Tips       engine.Text  `json:"tips" label:"Text above" doc:"shown above the form" show:"enable_tips" default:"Please fill up the form"`
	Inputs     engine.Value `json:"inputs" label:"Fields" doc:"what the person fills in" shape:"name -> {name, type, optional or required, options, value}" widget:"fields" want:"Add a field, or the form is empty."`
	Layout     string       `json:"layout_recognize" label:"Page layout" doc:"page layout recognition in RAGFlow; has no effect here" hidden:"true"`
}

// tipsStyle is the format of values in tips.
var tipsStyle = engine.TextStyle{Null: "null", Join: ","}

// Ask returns the form.
func (u *UserFillUp) Ask(ctx context.Context, call *engine.Call) (engine.Value, string, error) {
	tips, err := u.tips(ctx, call)
	return formOf(u.Inputs), tips, err
}

func (u *UserFillUp) tips(ctx context.Context, call *engine.Call) (string, error) {
	if !u.EnableTips {
		return "", nil
	}
	texts, err := readAll(&u.Tips, func(r *engine.Ref) (string, error) {
		text, err := call.TextOf(ctx, r, tipsStyle)
		return spoken(text), err
	})
	if err != nil {
		return "", err
	}
	return fillText(call, &u.Tips, texts)
}

// Run sets the outputs from the answers.
func (u *UserFillUp) Run(ctx context.Context, call *engine.Call) error {
	if u.EnableTips {
		tips, err := u.tips(ctx, call)
		if err != nil {
			return err
		}
		call.Out("tips", engine.String(tips))
	}
	for name := range u.Inputs.Fields() {
		call.Out(name, engine.Null)
	}
	return passFields(ctx, call, call.RunInputs(), u.Inputs)
}

// Warnings reports a form without fields.
func (u *UserFillUp) Warnings() []engine.Diagnostic {
	if u.Inputs.Len() > 0 {
		return nil
	}
	return []engine.Diagnostic{{
		Code: engine.CodeEmptyForm, Param: "inputs",
		Message: "the form has no fields, so the run pauses for nothing; add a field or remove the step",
	}}
}

// InputForm returns the form as the canvas declares it.
func (u *UserFillUp) InputForm() engine.Value { return formOf(u.Inputs) }

var (
	_ engine.Component = (*UserFillUp)(nil)
	_ engine.Form      = (*UserFillUp)(nil)
	_ engine.Former    = (*UserFillUp)(nil)
)
