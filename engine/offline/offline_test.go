package offline

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func ask(t *testing.T, req *engine.ModelRequest) string {
	t.Helper()
	var b strings.Builder
	for p, err := range (Model{}).Generate(t.Context(), req) {
		require.NoError(t, err)
		b.WriteString(p.Text)
	}
	return b.String()
}

func user(texts ...string) []engine.ModelMessage {
	var out []engine.ModelMessage
	for _, x := range texts {
		out = append(out, engine.ModelMessage{Role: "user", Content: x})
	}
	return out
}

func parse(t *testing.T, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}

func TestCategorize(t *testing.T) {
	choices := parse(t, `{
		"Sales": {"description": "buying, prices and offers", "examples": ["What does it cost?"]},
		"退货": {"description": "退货和退款的问题", "examples": ["我想退货", "怎么申请退款"]},
		"Repair": {"description": "something is broken", "examples": "screen cracked\nbattery is dead"},
		"Other": {"description": ""}}`)
	for _, c := range []struct{ name, query, want string }{
		{"word of the description", "Do you have an offer?", "Sales"},
		{"word of an example", "My battery died", "Repair"},
		{"an identical example wins", "what does it cost?", "Sales"},
		{"pairs of Chinese characters", "请问我的订单怎么退款？", "退货"},
		{"without common words the last category wins", "Tell me a joke", "Other"},
		{"an empty question selects the last category", "", "Other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, &engine.ModelRequest{Purpose: engine.PurposeCategorize, Query: c.query, Choices: choices})
			require.Equal(t, c.want, got)
		})
	}
}

func TestAnswerQuotesChunksWithTheirNumbers(t *testing.T) {
	chunks := parse(t, `{
		"80": {"content": "The warranty lasts two years. Shipping takes three days.", "document_name": "terms"},
		"7": {"content": "Our office is in Bremen. Parking is free.", "document_name": "office"}}`)
	got := ask(t, &engine.ModelRequest{
		Purpose: engine.PurposeAnswer, Query: "How long is the warranty?",
		Chunks: chunks,
	})
	require.Equal(t, Notice+"\nThe sources say:\n- The warranty lasts two years. [ID:80]", got)
}

func TestAnswerInChinese(t *testing.T) {
	chunks := parse(t, `{"12": {"content": "保修期为两年。运输需要三天。"}, "13": {"content": "办公室在上海。"}}`)
	got := ask(t, &engine.ModelRequest{Purpose: engine.PurposeAnswer, Query: "保修期多长时间？", Chunks: chunks})
	require.Equal(t, NoticeChinese+"\n资料中的相关内容：\n- 保修期为两年。 [ID:12]", got)
}

func TestAnswerWithoutSources(t *testing.T) {
	long := "Summarize for me: " + strings.Repeat("The harbour opened in the spring. ", 1) +
		"Ships from twelve countries came on the first day. The mayor gave a short speech about trade."
	for _, c := range []struct {
		name     string
		req      engine.ModelRequest
		contains []string
	}{
		{
			"a short question is repeated",
			engine.ModelRequest{Messages: user("Hello there")},
			[]string{"The question was: Hello there"},
		},
		{
			"a long prompt is quoted",
			engine.ModelRequest{Query: "Which ships came?", Messages: user(long)},
			[]string{"Ships from twelve countries"},
		},
		{
			"tool results are quoted",
			engine.ModelRequest{Query: "weather in Paris", Messages: user("weather in Paris",
				"Observation:\n[weather_0 result]\nIt is sunny in Paris.\n")},
			[]string{"The tools found:", "sunny in Paris"},
		},
		{"an empty request", engine.ModelRequest{}, []string{"There was no question."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.req.Purpose = engine.PurposeAnswer
			got := ask(t, &c.req)
			for _, part := range c.contains {
				require.Contains(t, got, part)
			}
		})
	}
}

func TestAnswerHasOneNotice(t *testing.T) {
	first := ask(t, &engine.ModelRequest{Messages: user("Which port is the oldest one of the north?")})
	second := ask(t, &engine.ModelRequest{Messages: user("Rewrite this so that it reads well for our customers: " +
		first +
		" Please keep all the names, numbers and places in it as they are, without adding anything new.")})
	require.Equal(t, 1, strings.Count(second, Notice))
}

func TestStreamedPiecesAreTheWholeAnswer(t *testing.T) {
	req := &engine.ModelRequest{Messages: user("Hello")}
	whole := ask(t, req)
	req.Stream = true
	require.Equal(t, whole, ask(t, req))
}

func TestCancelledCallEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range (Model{}).Generate(ctx, &engine.ModelRequest{Messages: user("Hello")}) {
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestShortQuestionIncludesThePreviousOne(t *testing.T) {
	got := ask(t, &engine.ModelRequest{
		Purpose:  engine.PurposeQuestion,
		Messages: user("Who built the Eiffel Tower?", "And when?"),
	})
	require.Equal(t, "Who built the Eiffel Tower? And when?", got)
}

func TestCiteMarksSentencesThatChunksSupport(t *testing.T) {
	chunks := parse(t, `{"5": {"content": "The tower was built in 1889 by Eiffel."}}`)
	got := ask(t, &engine.ModelRequest{
		Purpose: engine.PurposeCite, Chunks: chunks,
		Messages: user("The tower was built in 1889. I like cheese."),
	})
	require.Equal(t, "The tower was built in 1889. [ID:5] I like cheese.", got)
}

func TestFilterUsesValuesOfTheQuestion(t *testing.T) {
	got := ask(t, &engine.ModelRequest{
		Purpose: engine.PurposeFilter, Query: "Reports from Berlin in 2024",
		Choices: parse(t, `{"city": ["Paris", "Berlin"], "year": {"2023": ["d1"], "2024": ["d2"]}, "kind": ["memo"]}`),
	})
	require.Equal(t,
		`{"logic": "and", "conditions": [{"key": "city", "value": "Berlin", "op": "="}, `+
			`{"key": "year", "value": "2024", "op": "="}]}`, got)
}

func FuzzAnswer(f *testing.F) {
	f.Add("How long? 3.5 days!", "第一句。第二句？")
	f.Add("a\xff.", "- \n\n# x")
	f.Fuzz(func(t *testing.T, query, text string) {
		chunks := engine.Object("1", engine.Object("content", text))
		for _, p := range []engine.Purpose{
			engine.PurposeAnswer, engine.PurposeCite, engine.PurposeSummary,
			engine.PurposeStructured,
		} {
			req := &engine.ModelRequest{Purpose: p, Query: query, Messages: user(text), Chunks: chunks}
			if first, second := reply(req), reply(req); first != second {
				t.Fatal("equal requests got different answers")
			}
		}
	})
}
