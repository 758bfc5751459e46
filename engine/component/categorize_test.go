package component

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

const twoCategories = `"category_description": {"Other": {"to": ["M"]}, "Sales": ` +
	`{"description": "buying", "examples": "price?\ncost?", "to": "M"}}`

func TestCategorizeChooses(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"the name in the answer", "Other", "Other"},
		{"the name with most mentions", "I think Sales or sales, maybe Other", "Sales"},
		{"a tie selects the earlier category", "sales or other", "Other"},
		{"no name selects the last category", "no idea", "Sales"},
		{"reasoning is ignored", "<think>Other Other</think>Sales", "Sales"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := say(c.answer)
			s := run(t, node(t, "Categorize", `{`+twoCategories+`}`, ""), nil, "what does it cost", engine.Null,
				engine.Ports{Model: m})
			require.NoError(t, s.err)
			require.Equal(t, c.want, s.outs.Get("category_name").Text())
			req := m.asked[0]
			require.Equal(t, engine.PurposeCategorize, req.Purpose)
			require.Equal(t, `["price?", "cost?"]`, req.Choices.Get("Sales").Get("examples").Text())
			require.Contains(t, req.Messages[0].Content, `USER: "what does it cost" →`)
		})
	}
}

// A category whose name is part of another's wins only where it stands alone.
func TestCategorizeNamesInsideNames(t *testing.T) {
	const categories = `{"category_description": {"Sales": {"to": ["M"]}, "Pre-Sales": {"to": ["M"]}, ` +
		`"Pre-Sales abroad": {"to": ["M"]}, "Other": {"to": ["M"]}}}`
	for answer, want := range map[string]string{
		"Pre-Sales":                         "Pre-Sales",
		" pre-sales abroad\n":               "Pre-Sales abroad",
		"I choose Pre-Sales.":               "Pre-Sales",
		"Pre-Sales abroad, not Sales":       "Sales",
		"Sales or Pre-Sales or sales":       "Sales",
		"Pre-Sales or Pre-Sales or Sales":   "Pre-Sales",
		"Sales":                             "Sales",
		"Other: no Sales, no Sales":         "Sales",
		"presales":                          "Sales",
		"none of these":                     "Other",
		"Pre-Sales abroad Pre-Sales abroad": "Pre-Sales abroad",
	} {
		s := run(t, node(t, "Categorize", categories, ""), nil, "q", engine.Null, engine.Ports{Model: say(answer)})
		require.NoError(t, s.err)
		require.Equal(t, want, s.outs.Get("category_name").Text(), answer)
	}
}

// The search for names takes time in proportion to the answer, whatever the names are.
func TestCategorizeWithLongNames(t *testing.T) {
	var categories []string
	for n := 1; n <= 20_000; n += 200 {
		categories = append(categories, `"`+strings.Repeat("a", n)+`": {"to": ["M"]}`)
	}
	s := run(t, node(t, "Categorize", `{"category_description": {`+strings.Join(categories, ",")+`}}`, ""), nil, "q",
		engine.Null, engine.Ports{Model: say(strings.Repeat("a", 25*19_801) + " a a")})
	require.NoError(t, s.err)
	require.Len(t, s.outs.Get("category_name").Text(), 19_801, "25 mentions, and 2 of the shortest name")
}

// A category without targets loads; the node fails when it is chosen.
func TestCategorizeLeadsNowhere(t *testing.T) {
	c := node(t, "Categorize", `{"category_description": {"A": {"to": []}, "B": {"to": ["M"]}, "C": {}}}`, "")
	var warned []string
	for _, d := range c.Validate() {
		if d.Code == engine.CodeUnknownTarget {
			require.Equal(t, engine.SeverityWarning, d.Severity)
			warned = append(warned, d.Param)
		}
	}
	require.Equal(t, []string{"category_description.A.to", "category_description.C.to"}, warned)
	s := run(t, c, nil, "q", engine.Null, engine.Ports{Model: say("A")})
	require.ErrorContains(t, s.err, "category_description.A.to: reference to nothing: the chosen branch leads nowhere")
	s = run(t, c, nil, "q", engine.Null, engine.Ports{Model: say("B")})
	require.NoError(t, s.err)
}

func TestCategorizeShowsTheConversation(t *testing.T) {
	c := node(t, "Categorize", `{"message_history_window_size": 2, `+twoCategories+`}`, "fine\\nthen")
	m := say("Sales", "Sales")
	s := run(t, c, nil, "one", engine.Null, engine.Ports{Model: m})
	run(t, c, s.state, "two", engine.Null, engine.Ports{Model: m})
	require.Contains(t, m.asked[1].Messages[0].Content, `USER: "one" | ASSISTANT: "fine then" | USER: "two" →`)
}

func TestCategorizeRefuses(t *testing.T) {
	for _, c := range []struct{ params, problem string }{
		{`{}`, "category_description"},
		{`{"category_description": {"": {"to": ["M"]}}}`, "without a name"},
		{`{"category_description": ["A"]}`, "category_description"},
	} {
		_, err := loadNode("Categorize", c.params, "")
		require.ErrorContains(t, err, c.problem)
	}
}

func TestCategorizeNeedsAText(t *testing.T) {
	s := run(t, node(t, "Categorize", `{"query": "begin@n", `+twoCategories+`}`, ""), nil, "q",
		parse(t, `{"n": {"value": 5}}`), engine.Ports{Model: say()})
	require.ErrorContains(t, s.err, "{begin@n} is a number")
}
