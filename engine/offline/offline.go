// Package offline answers model calls without a language model: no network, no key, no randomness.
//
// It lets every canvas run anywhere and does what plain text search can do: it picks categories by
// the words they share with the question, answers with the best sentences of the retrieved chunks
// and their citation marks, calls each matching tool once, and fills structured answers from their
// schema. It cannot write text; each answer states in one short line that no language model was
// called.
//
// The calls state their purpose (engine.Purpose), so the package never guesses a task from a
// prompt. Equal requests get equal answers. Words are Latin words and pairs of Chinese, Japanese or
// Korean characters.
//
// Hosts use it when no provider is configured. The browser module includes it as well, so it
// imports only engine and the standard library.
package offline

import (
	"context"
	"iter"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Notice and NoticeChinese are the first line of every written answer. Later calls that quote the
// answer remove it.
const (
	Notice        = "[Offline answer: no language model was called.]"
	NoticeChinese = "[离线回答：没有调用语言模型。]"
)

// Model is the offline model. The zero value is ready to use and accepts every llm_id.
type Model struct{}

var (
	_ engine.Model     = Model{}
	_ engine.ModelInfo = Model{}
)

// ModelInfo reports no native tool calling: tools use the prompt protocol.
func (Model) ModelInfo(context.Context, string) engine.Info { return engine.Info{Context: 1 << 20} }

// Generate answers one call. It fails only with the error of ctx.
func (Model) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(engine.ModelPiece{}, err)
			return
		}
		if calls := nativeCalls(req); len(calls) > 0 {
			yield(engine.ModelPiece{ToolCalls: calls}, nil)
			return
		}
		for _, piece := range pieces(reply(req), req.Stream) {
			if err := ctx.Err(); err != nil {
				yield(engine.ModelPiece{}, err)
				return
			}
			if !yield(engine.ModelPiece{Text: piece}, nil) {
				return
			}
		}
	}
}

// reply returns the complete answer to one call.
func reply(req *engine.ModelRequest) string {
	switch req.Purpose {
	case engine.PurposePlan:
		return plan(req)
	case engine.PurposeCategorize:
		return categorize(req)
	case engine.PurposeStructured:
		return structured(req)
	case engine.PurposeQuestion:
		return standAlone(req)
	case engine.PurposeCite:
		return cite(req)
	case engine.PurposeSummary:
		return summarize(lastMessage(req), question(req))
	case engine.PurposeFilter:
		return filter(req)
	case engine.PurposeTranslate:
		return question(req)
	}
	return answer(req)
}

// pieces splits an answer after each line if it is streamed.
func pieces(text string, stream bool) []string {
	if !stream {
		return []string{text}
	}
	return strings.SplitAfter(text, "\n")
}

// notice returns the notice in the language of text.
func notice(text string) string {
	if isChinese(text) {
		return NoticeChinese
	}
	return Notice
}

// withoutNotice removes the notices of earlier answers.
func withoutNotice(text string) string {
	if !strings.Contains(text, "[") {
		return text
	}
	text = strings.ReplaceAll(text, Notice, "")
	return strings.TrimSpace(strings.ReplaceAll(text, NoticeChinese, ""))
}

// question returns the user's question: the one passed by the caller, else the last user message.
// After tool calls the last message is an instruction or an observation, and the question is the
// message before the first call.
func question(req *engine.ModelRequest) string {
	q, last := strings.TrimSpace(withoutNotice(req.Query)), lastMessage(req)
	if q != "" && q != last {
		return q
	}
	asked := last
	for _, m := range req.Messages {
		if calls(&m) {
			return asked
		}
		if m.Role == "user" {
			asked = strings.TrimSpace(withoutNotice(m.Content))
		}
	}
	return last
}

// lastMessage returns the last user message that is not empty.
func lastMessage(req *engine.ModelRequest) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if m := req.Messages[i]; m.Role == "user" && strings.TrimSpace(m.Content) != "" {
			return strings.TrimSpace(withoutNotice(m.Content))
		}
	}
	return ""
}
