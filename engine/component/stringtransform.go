package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

var stringTransformSpec = engine.Spec{
	Name:  "StringTransform",
	Title: "Text", Search: []string{"split", "join", "template", "jinja", "拼接", "拆分", "文本处理"},
	Category: engine.CategoryData, Icon: "text",
	Doc:      "Splits a text into a list, or merges values into a text.",
	New:      func() engine.Component { return new(StringTransform) },
	Outputs:  []engine.Field{{Name: "result", Type: "any", Doc: "split: the parts, a list; merge: the text"}},
	Waits:    true,
	Inline:   true,
	Thoughts: "Transforming text.",
}

// StringTransform splits or merges.
//
// In: merge: the references of the script, as texts. Out: result.
//
// Split cuts at every delimiter and keeps empty parts; where several delimiters match, the first in
// the list wins. Merge renders the script, which may be a Jinja template; lists are joined by the
// first delimiter.
//
// Source: RAGFlow agent/component/string_transform.py at 80a16e71 (behaviour only). Differs: values
// are substituted once and by position, and 0 and false stay as they are; see wording.
type StringTransform struct {
	Method     string      `json:"method" label:"Do" doc:"build a text, or split one" options:"split=Split|merge=Build" default:"split"`
	Delimiters []string    `json:"delimiters" label:"At" doc:"where the text is split; the first one also joins lists" default:"[\",\"]" check:"nonempty"`
	SplitRef   engine.Ref  `json:"split_ref" label:"Text" doc:"the text to split" show:"method=split" want:"Choose the text to split."`
	Script     engine.Text `json:"script" label:"Text" doc:"the text to build, with references or a template" show:"method=merge" want:"Enter the text to build."`

	wording *wording
}

// Init compiles the script.
func (t *StringTransform) Init(*engine.Setup) error {
	t.wording = newWording(&t.Script)
	return nil
}

// Run sets the result.
func (t *StringTransform) Run(ctx context.Context, call *engine.Call) error {
	if t.Method == "merge" {
		return t.merge(ctx, call)
	}
	return t.split(ctx, call)
}

func (t *StringTransform) split(ctx context.Context, call *engine.Call) error {
	v, err := t.source(ctx, call)
	if err != nil {
		return err
	}
	if v.Truthy() && v.Kind() != engine.KindString {
		return fmt.Errorf("split_ref %s must be a text, but it is a %s", t.SplitRef.String(), v.Kind())
	}
	parts, err := splitAt(v.Str(), t.Delimiters, call.CheckSize)
	if err != nil {
		return err
	}
	call.Out("result", engine.Strings(parts...))
	return nil
}

// source returns the text to split; a run of the node alone may pass it as line.
func (t *StringTransform) source(ctx context.Context, call *engine.Call) (engine.Value, error) {
	if call.Debugging() {
		if line, ok := call.RunInputs().Lookup("line"); ok {
			return line, nil
		}
	}
	if t.SplitRef.IsZero() {
		return engine.Null, nil
	}
	return call.Resolve(ctx, &t.SplitRef)
}

// splitAt splits a text at every delimiter. From time to time it checks the size of the parts with
// check.
func splitAt(s string, delimiters []string, check func(int64) error) ([]string, error) {
	const often = 1 << 16
	parts := []string{}
	from := 0
	for i := 0; i < len(s); {
		n := delimiterLength(s[i:], delimiters)
		if n == 0 {
			i++
			continue
		}
		parts = append(parts, s[from:i])
		i += n
		from = i
		if len(parts)%often == 0 {
			if err := check(int64(len(s)) + partSize*int64(len(parts))); err != nil {
				return nil, err
			}
		}
	}
	return append(parts, s[from:]), nil
}

// partSize is the size of a list element without its text.
const partSize = 32

// delimiterLength returns the length of the first delimiter that s starts with, or 0.
func delimiterLength(s string, delimiters []string) int {
	for _, d := range delimiters {
		if d != "" && strings.HasPrefix(s, d) {
			return len(d)
		}
	}
	return 0
}

func (t *StringTransform) merge(ctx context.Context, call *engine.Call) error {
	if separator := t.Delimiters[0]; separator != "" && !t.wording.isTemplate() {
		text, err := call.Render(ctx, &t.Script, engine.TextStyle{Join: separator, Record: true})
		if err != nil {
			return err
		}
		call.Out("result", engine.String(text))
		return nil
	}
	text, err := t.wording.fill(call, func(r *engine.Ref) (engine.Value, string, error) {
		v, err := call.Resolve(ctx, r)
		if err != nil {
			return v, "", err
		}
		text, err := t.joined(call, v)
		if err != nil {
			return v, "", err
		}
		call.In(r.Expr, engine.String(text))
		return v, text, nil
	})
	if err != nil {
		return err
	}
	call.Out("result", engine.String(text))
	return nil
}

// joined returns a value as text; the elements of a list are joined with the first delimiter.
func (t *StringTransform) joined(call *engine.Call, v engine.Value) (string, error) {
	if v.Kind() != engine.KindList {
		return call.TextOfValue(v)
	}
	return call.JoinText(v, t.Delimiters[0])
}

var (
	_ engine.Component   = (*StringTransform)(nil)
	_ engine.Initializer = (*StringTransform)(nil)
)
