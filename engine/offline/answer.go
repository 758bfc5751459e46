package offline

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// answer composes an answer from quotations: from the retrieved chunks with citation marks, else
// from tool results, else from the text in the prompt. Without any of them, it repeats the
// question.
func answer(req *engine.ModelRequest) string {
	ask := question(req)
	head := notice(ask+lastMessage(req)) + "\n"
	chinese := strings.HasPrefix(head, NoticeChinese)
	if list := best(chunkSentences(req.Chunks), ask, 4); len(list) > 0 {
		return head + quote(list, choose(chinese, "The sources say:", "资料中的相关内容："))
	}
	if list := best(plainSentences(observations(req)), ask, 4); len(list) > 0 {
		return head + quote(list, choose(chinese, "The tools found:", "工具返回的相关内容："))
	}
	if material := material(req, ask); material != "" {
		if list := best(plainSentences(material), ask, 4); len(list) > 0 {
			return head + quote(list, choose(chinese, "From the text that was given:", "根据所给文本："))
		}
	}
	if ask == "" {
		return head + choose(chinese, "There was no question.", "没有收到问题。")
	}
	return head + choose(chinese, "The question was: ", "问题是：") + shorten(ask)
}

func choose(chinese bool, english, other string) string {
	if chinese {
		return other
	}
	return english
}

// quote formats sentences as a list, each with its citation mark at the end.
func quote(list []sentence, title string) string {
	var b strings.Builder
	b.WriteString(title)
	for _, s := range list {
		b.WriteString("\n- " + s.text)
		if s.source != "" {
			b.WriteString(" [ID:" + s.source + "]")
		}
	}
	return b.String()
}

// chunkSentences returns the sentences of retrieved chunks: citation number -> {content, ...}.
func chunkSentences(chunks engine.Value) []sentence {
	var list []sentence
	for number, chunk := range chunks.Fields() {
		content := chunk.Get("content").Text()
		if content == "" {
			content = chunk.Get("content_with_weight").Text()
		}
		for _, s := range sentences(withoutNotice(content)) {
			list = append(list, sentence{text: s, source: number, order: len(list)})
		}
	}
	return list
}

func plainSentences(text string) []sentence {
	var list []sentence
	for i, s := range sentences(text) {
		list = append(list, sentence{text: s, order: i})
	}
	return list
}

// observations returns the tool results of this conversation, in both protocols.
func observations(req *engine.ModelRequest) string {
	var b strings.Builder
	for _, m := range req.Messages {
		switch {
		case m.Role == "tool":
			b.WriteString(m.Content + "\n")
		case m.Role == "user" && strings.HasPrefix(strings.TrimSpace(m.Content), engine.PlanObservation):
			for line := range strings.Lines(m.Content) {
				if t := strings.TrimSpace(line); t != engine.PlanObservation && !strings.HasSuffix(t, "result]") {
					b.WriteString(line)
				}
			}
			b.WriteByte('\n')
		}
	}
	return withoutNotice(b.String())
}

// material returns the part of the prompt besides the question, if it is more than a few words.
func material(req *engine.ModelRequest, ask string) string {
	text := strings.TrimSpace(strings.ReplaceAll(lastMessage(req), ask, " "))
	if len(Words(text)) < 12 {
		return ""
	}
	return text
}
