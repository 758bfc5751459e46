package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
)

// Categorize classifies the user's message into one category and continues with that category's
// nodes.
//
// The category that equals the model's answer wins, or else the one that it names most often, the
// earlier one of a tie; when it names none, the last category. Source: RAGFlow
// agent/component/categorize.py at 80a16e71 (behaviour only). Differs: a mention inside the name of
// a longer category does not count; a category without targets loads, and choosing it is an error.
type Categorize struct {
	engine.Common
	Sampling
	Query      engine.Ref   `json:"query" label:"Text to classify" doc:"text to classify" default:"sys.query"`
	Categories engine.Value `json:"category_description" label:"Categories" doc:"the model picks one of them; each leads to its steps" shape:"name -> {description, examples, to}; to lists node ids" widget:"branches" check:"nonempty"`
	categories []category
	window     int // turns of the conversation to send
}

type category struct {
	name, description string
	examples          []string
	to                []string
}

var categorizeSpec = engine.Spec{
	Ignores: modelIgnores,
	Name:    "Categorize",
	Title:   "Classify", Search: []string{"classify", "intent", "route", "category", "分类", "意图"},
	Category: engine.CategoryModel, Icon: "sort",
	Branches: []engine.Branch{{Param: "category_description", To: "to"}},
	Doc:      "Classifies the user's message with a language model and continues with the branch of its category.",
	FromForm: categorizeFromForm,
	New:      func() engine.Component { return &Categorize{} },
	Outputs:  []engine.Field{{Name: "category_name", Type: "string", Doc: "the category"}},
	Waits:    true,
	Thoughts: "Classifying the request.",
}

// Init reads the categories.
func (c *Categorize) Init(s *engine.Setup) (err error) {
	if c.window, err = historyWindow(s, &c.Common, 1); err != nil {
		return err
	}
	if c.window < 0 {
		return s.Fail("message_history_window_size", c.HistoryWindowSize, "is negative; expected a number of turns")
	}
	if c.Categories.Kind() != engine.KindObject {
		return s.Fail("category_description", c.Categories,
			"is a "+c.Categories.Kind().String()+"; expected an object of name -> {description, examples, to}")
	}
	for name, v := range c.Categories.Fields() {
		if name == "" {
			return s.Fail("category_description", engine.Null, "has a category without a name")
		}
		k := category{
			name: name, description: v.Get("description").Text(), examples: examples(v.Get("examples")),
			to: texts(v.Get("to")),
		}
		c.categories = append(c.categories, k)
	}
	return nil
}

// examples returns a list, or lines of one string.
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

// texts returns the elements of a list that are not empty; a string counts as a list of one.
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

// Warnings reports categories without targets.
func (c *Categorize) Warnings() (list []engine.Diagnostic) {
	for _, k := range c.categories {
		list = noTarget(list, "category_description."+k.name+".to", k.to)
	}
	return list
}

// Choices returns the nodes of each category that leads somewhere.
func (c *Categorize) Choices() (choices [][]string) {
	for _, k := range c.categories {
		if len(k.to) > 0 {
			choices = append(choices, k.to)
		}
	}
	return choices
}

// Run lets the model select a category.
func (c *Categorize) Run(ctx context.Context, call *engine.Call) error {
	v, err := c.question(ctx, call)
	if err != nil {
		return err
	}
	if k := v.Kind(); k != engine.KindString && k != engine.KindNull {
		return fmt.Errorf("query {%s} is a %s; expected a string", c.Query.Expr, k)
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
	if len(chosen.to) == 0 {
		return fmt.Errorf("category_description.%s.to: %w", chosen.name, errNowhere)
	}
	return call.Next(chosen.to)
}

// question returns the text to classify; a run of the node alone may pass it as query.
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

// conversationLines formats messages as ROLE: "text", one per line.
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

// choose returns the category that the answer names: the one that it equals, or else the one that
// it mentions most often, the earlier one of a tie; the last category when it mentions none.
func (c *Categorize) choose(answer string) category {
	answer = strings.ToLower(answer)
	mentions := make([]int, len(c.categories))
	longest := make([]int, len(c.categories))
	for i, k := range c.categories {
		if strings.ToLower(k.name) == strings.TrimSpace(answer) {
			return k
		}
		longest[i] = i
	}
	stable.Sort(longest, func(a, b int) int { return len(c.categories[b].name) - len(c.categories[a].name) })
	for _, i := range longest {
		name := strings.ToLower(c.categories[i].name)
		mentions[i] = strings.Count(answer, name)
		answer = strings.ReplaceAll(answer, name, "\x00") // a shorter name in it is no mention
	}
	best, most := len(mentions)-1, 0
	for i, n := range mentions {
		if n > most {
			best, most = i, n
		}
	}
	return c.categories[best]
}

// InputForm returns the form with the query.
func (c *Categorize) InputForm() engine.Value {
	return engine.Object("query", engine.Object("type", "line", "name", "Query"))
}

var (
	_ engine.Component   = (*Categorize)(nil)
	_ engine.Initializer = (*Categorize)(nil)
	_ engine.Brancher    = (*Categorize)(nil)
	_ engine.Former      = (*Categorize)(nil)
	_ engine.Warner      = (*Categorize)(nil)
)
