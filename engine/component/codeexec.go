package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// CodeExec runs a script of the canvas, or of a model that calls it as a tool. The script defines
// main; its result is assigned to the declared outputs and converted to their types.
//
// The only output takes the member of its name (a dot is a path), else the whole result. Several
// take members of an object by name or elements of a list by position; one plain value goes to the
// first. Differs: output on standard error fails the node only when there is no result; as a tool
// it returns the result. Files that the script wrote are the outputs _ARTIFACTS and, as Markdown
// links, attachments. As in later versions, content, raw_result and actual_type are outputs too,
// unless the only output that the node declares has one of these names; a value that does not fit
// its declared type is converted and no error. Source: RAGFlow agent/tools/code_exec.py at 80a16e71
// (behaviour only).
type CodeExec struct {
	Lang      string             `json:"lang" label:"Language" doc:"language of the script" options:"python=Python|javascript=JavaScript" accept:"python=python3|javascript=nodejs" default:"python"`
	Arguments []engine.NamedExpr `json:"arguments" label:"Inputs" doc:"names and values that main gets" shape:"name -> reference" widget:"pairs"`
	Script    string             `json:"script" label:"Script" doc:"a function main that gets the inputs and returns the result" shape:"main receives the arguments by name (JavaScript: as one object)" widget:"code" want:"Enter a script with a function main." format:"code"`
	outputs   []codeOutput
}

// describingOutputs are declared by documents of later versions, in addition to the script's
// output.
var describingOutputs = []string{"content", "raw_result", "actual_type", "attachments"}

// codeOutput is one declared output.
type codeOutput struct{ name, typ string }

var codeExecSpec = engine.Spec{
	Name:     "CodeExec",
	Declares: engine.DeclaresTyped,
	Title:    "Code",
	Search:   []string{"python", "javascript", "script", "function", "脚本"}, First: "script",
	Category: engine.CategoryTool, Group: engine.GroupCode, Icon: "code",
	Doc: "Runs a Python or JavaScript function and returns its result.",
	New: func() engine.Component { return &CodeExec{} },
	Outputs: []engine.Field{
		{Name: "result", Type: "any", Doc: "result of main, unless the node declares other outputs"},
		{Name: "content", Type: "string", Doc: "the result as text, with links to files"},
		{Name: "raw_result", Type: "any", Doc: "the result as main returned it"},
		{Name: "actual_type", Type: "string", Doc: "its type: String, Number, Boolean, Object, Array<...>, Null"},
		{Name: "attachments", Type: "list", Doc: "links to files that the script wrote"},
	},
	Retries:  true,
	Thoughts: "Running the code.",
	Tool: &engine.ToolSpec{
		Function: "execute_code", Files: "_ARTIFACTS",
		Description: "Runs a script and gives what its function main returns. Use it to calculate and to work on " +
			"data. Python: def main(): ... return value. JavaScript: function main() { ... return value }. There is " +
			"no network and no file system.",
		Args: []engine.Field{
			{
				Name: "lang", Type: "string", Doc: "language of the script", Required: true,
				Enum: []string{"python", "javascript"},
			},
			{
				Name: "script", Type: "string", Doc: "the whole script; it defines main and returns the result from it",
				Required: true,
			},
		},
		Result: "content",
	},
}

// Init reads the declared outputs. A script may be left out if a model passes it; an empty one is
// an error.
func (c *CodeExec) Init(s *engine.Setup) error {
	if v := s.Params.Get("script"); v.Kind() == engine.KindString && v.Str() == "" {
		return s.Fail("script", v, "is empty; expected a function main")
	}
	var own []codeOutput
	for name, slot := range s.Outputs.Fields() {
		if !strings.HasPrefix(name, "_") {
			c.outputs = append(c.outputs, codeOutput{name, strings.ToLower(slot.Get("type").Text())})
			if !slices.Contains(describingOutputs, name) {
				own = append(own, c.outputs[len(c.outputs)-1])
			}
		}
	}
	if len(own) > 0 {
		c.outputs = own
	}
	if len(c.outputs) == 0 {
		c.outputs = []codeOutput{{"result", ""}}
	}
	return nil
}

// Needs returns the port the component uses.
func (*CodeExec) Needs() string { return "Code" }

// Run runs the script.
func (c *CodeExec) Run(ctx context.Context, call *engine.Call) error {
	given, arguments := call.Args(), call.Args()
	if call.Debugging() {
		arguments = call.RunInputs()
	}
	run := &engine.CodeCall{Language: c.Lang, Script: c.Script}
	if s := given.Get("script").Str(); s != "" {
		run.Script = s
	}
	if l := given.Get("lang").Str(); l != "" {
		run.Language = l
	}
	var ok bool
	if run.Language, ok = languageOf(run.Language); !ok {
		return fmt.Errorf("language %q is not supported; expected python or javascript", run.Language)
	}
	if strings.TrimSpace(run.Script) == "" {
		return errors.New("script is empty; define a function main")
	}
	port := call.Ports().Code
	if port == nil {
		return fmt.Errorf("code in %s: %w", run.Language, engine.ErrNoPort)
	}
	var err error
	if run.Arguments, err = c.arguments(ctx, call, arguments); err != nil {
		return err
	}
	res, err := port.RunCode(ctx, run)
	if err != nil {
		return err
	}
	return c.result(call, res)
}

// languageOf returns the language of a name; ok is false for an unknown name, which is returned as
// it is.
func languageOf(name string) (language string, ok bool) {
	switch strings.ToLower(name) {
	case "python", "python3":
		return "python", true
	case "nodejs", "javascript", "js":
		return "javascript", true
	}
	return name, false
}

// arguments returns the arguments of main: the one that a model, or a person who tries the node,
// passed under the same name, else the value of the reference.
func (c *CodeExec) arguments(ctx context.Context, call *engine.Call, given engine.Value) (engine.Value, error) {
	b := engine.NewObject(len(c.Arguments))
	for i := range c.Arguments {
		a := &c.Arguments[i]
		v := given.Get(a.Name)
		if !v.Truthy() {
			var err error
			if v, err = call.Eval(ctx, &a.Expr); err != nil {
				return engine.Null, fmt.Errorf("argument %s: %w", a.Name, err)
			}
			if s := v.Str(); s != "" && s == a.Expr.Literal.Str() && looksLikeRef(s) {
				return engine.Null, fmt.Errorf("argument %s: %w: Can't find variable: '%s'", a.Name, engine.ErrRef, s)
			}
			if a.Expr.IsEmpty() {
				v = engine.Null
			}
		}
		call.In(a.Name, v)
		b.Set(a.Name, v)
	}
	return b.Value(), nil
}

// looksLikeRef reports whether a string without references was meant as one.
func looksLikeRef(s string) bool {
	if strings.HasPrefix(s, "sys.") || strings.HasPrefix(s, "env.") {
		return !strings.Contains(s, " ")
	}
	node, output, ok := strings.Cut(s, "@")
	return ok && strings.Contains(node, ":") && output != "" && !strings.ContainsAny(s, " /")
}

// result sets the outputs. A script without a result may have printed it.
func (c *CodeExec) result(call *engine.Call, res engine.CodeResult) error {
	v := res.Value
	if v.IsNull() {
		if errText := strings.TrimSpace(res.Stderr); errText != "" {
			return errors.New(errText)
		}
		v = printed(res.Stdout)
	}
	links := artifactLinks(res.Artifacts)
	content := v.Text()
	for _, link := range links {
		content += "\n\n" + link.Str()
	}
	call.Out("content", engine.String(content))
	call.Out("raw_result", v)
	call.Out("actual_type", engine.String(actualType(v)))
	if len(links) > 0 {
		call.Out("_ARTIFACTS", engine.List(res.Artifacts...))
		call.Out("attachments", engine.List(links...))
	}
	for i, o := range c.outputs { // last: a declared output may have one of these names
		call.Out(o.name, coerce(c.pick(v, i), o.typ))
	}
	return nil
}

// actualType returns the type of a result: String, Number, Boolean, Object, Array<type> or Null. A
// list of values of several types is an Array<Any>.
func actualType(v engine.Value) string {
	switch v.Kind() {
	case engine.KindNull:
		return "Null"
	case engine.KindBool:
		return "Boolean"
	case engine.KindNumber:
		return "Number"
	case engine.KindObject:
		return "Object"
	case engine.KindList:
		of := ""
		for _, e := range v.Elements() {
			switch t := actualType(e); of {
			case "", t:
				of = t
			default:
				return "Array<Any>"
			}
		}
		return "Array<" + cmp.Or(of, "Any") + ">"
	}
	return "String"
}

// fileOf returns the path in a line that is only a link to a file of the host, as artifactLinks
// writes it. Other addresses, which a script may print, are left to the model, and so are labels
// that hold links or HTML, and paths with a backslash, which browsers read as one to another host.
func fileOf(line string) (path string, ok bool) {
	rest, isLink := strings.CutPrefix(strings.TrimPrefix(line, "!"), "[")
	label, path, _ := strings.Cut(rest, "](")
	path, closed := strings.CutSuffix(path, ")")
	ok = isLink && closed && !strings.ContainsAny(label, "<") && !strings.ContainsAny(path, "\\()\t ") &&
		strings.HasPrefix(path, "/") && len(path) > 1 && path[1] != '/'
	return path, ok
}

// artifactLinks returns a Markdown link for each file that a script made, an image for a picture,
// and the name of one that has no address.
func artifactLinks(artifacts []engine.Value) []engine.Value {
	var links []engine.Value
	for _, a := range artifacts {
		name, url := a.Get("name").Text(), a.Get("url").Str()
		switch {
		case url == "":
			links = append(links, engine.String(name))
		case strings.HasPrefix(a.Get("mime_type").Str(), "image/"):
			links = append(links, engine.String("!["+name+"]("+url+")"))
		default:
			links = append(links, engine.String("[Download "+name+"]("+url+")"))
		}
	}
	return links
}

// printed reads output as JSON or a Python literal where it is one.
func printed(text string) engine.Value {
	text = strings.TrimSpace(text)
	if v, ok := literal(text); ok {
		return v
	}
	return engine.String(text)
}

// pick returns the part of a result for output i: the member or path of its name. Without one, the
// only output has the whole result, and one of several the element at its position.
func (c *CodeExec) pick(v engine.Value, i int) engine.Value {
	name := c.outputs[i].name
	if v.Kind() == engine.KindObject {
		if x, ok := v.Lookup(name); ok {
			return x
		}
		if x := engine.Walk(v, strings.Split(name, ".")); !x.IsNull() {
			return x
		}
	}
	switch {
	case len(c.outputs) == 1:
		return v
	case v.Kind() == engine.KindList:
		return v.At(i)
	case v.Kind() == engine.KindObject || i > 0:
		return engine.Null
	}
	return v
}

// coerce converts a value to a declared type; a value that cannot be converted stays as it is.
func coerce(v engine.Value, typ string) engine.Value {
	text := strings.TrimSpace(v.Text())
	switch {
	case v.IsNull():
		return v
	case strings.HasPrefix(typ, "string"):
		return engine.String(v.Text())
	case strings.HasPrefix(typ, "number"):
		if v.Kind() == engine.KindBool {
			return engine.Int(map[bool]int64{true: 1}[v.True()])
		}
		if text == "" {
			return engine.Null
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil && v.Kind() == engine.KindString {
			return engine.Float(f)
		}
	case strings.HasPrefix(typ, "boolean"):
		if v.Kind() == engine.KindString {
			return engine.Bool(isYes(text))
		}
		return engine.Bool(v.Truthy())
	case strings.HasPrefix(typ, "array"):
		if x, ok := literal(text); ok && v.Kind() == engine.KindString {
			v = x
		}
		if v.Kind() != engine.KindList {
			v = engine.List(v)
		}
	case strings.HasPrefix(typ, "object"):
		if x, ok := literal(text); ok && v.Kind() == engine.KindString {
			return x
		}
	}
	return v
}

func isYes(text string) bool {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "y", "on", "t":
		return true
	}
	return false
}

// Requires returns the language of the script. That of a model's script is known only in the run.
func (c *CodeExec) Requires() []string {
	if c.Script == "" {
		return nil
	}
	language, _ := languageOf(c.Lang) // Init has checked it
	return []string{language}
}

// MayRequire returns the languages of scripts.
func (c *CodeExec) MayRequire() []string { return []string{"javascript", "python"} }

// InputForm returns a form with one field per argument.
func (c *CodeExec) InputForm() engine.Value {
	b := engine.NewObject(len(c.Arguments))
	for _, a := range c.Arguments {
		b.Set(a.Name, engine.Object("type", "line", "name", a.Name))
	}
	return b.Value()
}

var (
	_ engine.Component   = (*CodeExec)(nil)
	_ engine.Initializer = (*CodeExec)(nil)
	_ engine.Former      = (*CodeExec)(nil)
	_ engine.Requirer    = (*CodeExec)(nil)
)
