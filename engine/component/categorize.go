package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Categorize sorts what the user says into one category and goes on with that category's nodes.
//
// The category whose name occurs most often in the model's answer wins, the earlier one of equals;
// when none occurs it is the last. Source: RAGFlow agent/component/categorize.py at 80a16e71
// (behaviour read, written anew).
type Categorize struct {
	engine.Common
	Sampling
	Query      engine.Ref   `json:"query" doc:"text to sort" default:"sys.query"`
	Categories engine.Value `json:"category_description" doc:"name -> {description, examples, to}; to lists the ids that run next" check:"nonempty" label:"Categories"`
	categories []category
	window     int // turns of the conversation the model sees
}

type category struct {
	name, description string
	examples          []string
	to                []string
}

var categorizeSpec = engine.Spec{
	Ignores:  modelIgnores,
	Name:     "Categorize",
	Category: engine.CategoryModel, Icon: "sort",
	Branches: []engine.Branch{{Param: "category_description", To: "to"}},
	Doc:      "Sorts what the user says into one of several categories with a language model, and continues there.",
	New:      func() engine.Component { return &Categorize{} },
	Outputs:  []engine.Field{{Name: "category_name", Type: "string", Doc: "the category"}},
	Waits:    true,
	Thoughts: "Sorting the request.",
}

// Init reads the categories.
func (c *Categorize) Init(s *engine.Setup) (err error) {
	if c.window, err = historyWindow(s, &c.Common, 1); err != nil {
		return err
	}
	if c.window < 0 {
		return s.Fail("message_history_window_size", c.HistoryWindowSize, "is below 0; it counts turns of the conversation")
	}
	if c.Categories.Kind() != engine.KindObject {
		return s.Fail("category_description", c.Categories, "is a "+c.Categories.Kind().String()+"; an object of name -> {description, examples, to} is needed")
	}
	for name, v := range c.Categories.Fields() {
		at := "category_description." + name
		if name == "" {
			return s.Fail("category_description", engine.Null, "has a category without a name")
		}
		k := category{name: name, description: v.Get("description").Text(), examples: examples(v.Get("examples")), to: texts(v.Get("to"))}
		if len(k.to) == 0 {
			return s.Fail(at+".to", v.Get("to"), "is empty; name at least one node that runs next")
		}
		c.categories = append(c.categories, k)
	}
	return nil
}

// examples are a list, or lines of one text.
func examples(v engine.Value) []string {
	if v.Kind() != engine.KindString {
		return texts(v)
	}
	var list []string
	for line := range strings.Lines(v.Str()) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// texts are the elements of a list that are not empty; one text alone counts as a list.
func texts(v engine.Value) []string {
	if v.Kind() != engine.KindList {
		v = engine.List(v)
	}
	var list []string
	for _, e := range v.Elements() {
		if s := e.Text(); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// Targets are the nodes of all categories.
func (c *Categorize) Targets() []string {
	var ids []string
	for _, k := range c.categories {
		ids = append(ids, k.to...)
	}
	return ids
}

// Run asks the model and chooses.
func (c *Categorize) Run(ctx context.Context, call *engine.Call) error {
	v, err := c.question(ctx, call)
	if err != nil {
		return err
	}
	if k := v.Kind(); k != engine.KindString && k != engine.KindNull {
		return fmt.Errorf("query {%s} is a %s; a text is needed", c.Query.Expr, k)
	}
	call.In(c.Query.Expr, engine.String(v.Text()))
	req, err := c.request(call, v.Text())
	if err != nil {
		return err
	}
	var text string
	err = retry(ctx, call, &c.Common, func() error {
		answer, err := call.Generate(ctx, req, nil)
		text = afterReasoning(answer.Text)
		return err
	})
	if err != nil {
		return err
	}
	chosen := c.choose(text)
	call.Out("category_name", engine.String(chosen.name))
	return call.Next(chosen.to)
}

// question is the text to sort; whoever runs the node alone may give it as query.
func (c *Categorize) question(ctx context.Context, call *engine.Call) (engine.Value, error) {
	if call.Debugging() {
		if v, ok := call.RunInputs().Lookup("query"); ok {
			return v, nil
		}
	}
	return call.Resolve(ctx, &c.Query)
}

func (c *Categorize) request(call *engine.Call, query string) (*engine.ModelRequest, error) {
	before, err := past(call, c.window)
	if err != nil {
		return nil, err
	}
	lines := conversationLines(append(before, engine.ModelMessage{Role: "user", Content: query}))
	choices := engine.NewObject(len(c.categories))
	for _, k := range c.categories {
		choices.Set(k.name, engine.Object("description", k.description, "examples", k.examples))
	}
	return &engine.ModelRequest{
		LLM: c.LLMID, Purpose: engine.PurposeCategorize, System: categorizeSystem(c.categories),
		Messages: []engine.ModelMessage{{Role: "user", Content: categorizeUser(lines)}},
		Config:   c.config(), Choices: choices.Value(), Query: query,
	}, nil
}

// conversationLines shows messages as ROLE: "text", each on one line.
func conversationLines(messages []engine.ModelMessage) []string {
	var lines []string
	for _, m := range messages {
		lines = append(lines, strings.ToUpper(m.Role)+`: "`+oneLine(m.Content)+`"`)
	}
	return lines
}

func oneLine(s string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}

// choose is the category named most often.
func (c *Categorize) choose(answer string) category {
	answer = strings.ToLower(answer)
	best, most := c.categories[len(c.categories)-1], 0
	for _, k := range c.categories {
		if n := strings.Count(answer, strings.ToLower(k.name)); n > most {
			best, most = k, n
		}
	}
	return best
}

// InputForm asks for the query.
func (c *Categorize) InputForm() engine.Value {
	return engine.Object("query", engine.Object("type", "line", "name", "Query"))
}

var (
	_ engine.Component   = (*Categorize)(nil)
	_ engine.Initializer = (*Categorize)(nil)
	_ engine.Brancher    = (*Categorize)(nil)
	_ engine.Former      = (*Categorize)(nil)
)
