package offline

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// standAlone returns the last question of a conversation. A question of very few words is joined
// with the one before, to which it most likely refers.
func standAlone(req *engine.ModelRequest) string {
	ask, before := "", ""
	for _, m := range req.Messages {
		if m.Role == "user" && strings.TrimSpace(m.Content) != "" {
			ask, before = strings.TrimSpace(withoutNotice(m.Content)), ask
		}
	}
	if q := strings.TrimSpace(req.Query); q != "" && q != ask {
		return q
	}
	if len(Words(ask)) < 3 && before != "" {
		return before + " " + ask
	}
	return ask
}

// cite adds a citation mark to each sentence of a finished answer that shares at least a third of
// its words with a chunk.
func cite(req *engine.ModelRequest) string {
	text := strings.TrimSpace(lastMessage(req))
	chunks := map[string]map[string]bool{}
	for number, c := range req.Chunks.Fields() {
		chunks[number] = wordSet(c.Get("content").Text())
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		for rest := body; rest != ""; {
			end := sentenceEnd(rest)
			b.WriteString(rest[:end])
			if number := source(req.Chunks, chunks, rest[:end]); number != "" {
				b.WriteString(" [ID:" + number + "]")
			}
			rest = rest[end:]
		}
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// source returns the number of the chunk that matches a sentence best, or "".
func source(order engine.Value, chunks map[string]map[string]bool, s string) string {
	if strings.Contains(s, "[ID:") || isLabel(s) {
		return ""
	}
	number, highest, size := "", 0, len(wordSet(s))
	for n := range order.Fields() {
		if c := overlap(chunks[n], s); c > highest && c*3 >= size {
			number, highest = n, c
		}
	}
	return number
}

// filter builds conditions on document metadata from the values that the question mentions. Choices
// contains the metadata: key -> list of values, or key -> {value: documents}.
func filter(req *engine.ModelRequest) string {
	ask := strings.ToLower(question(req))
	var conditions []engine.Value
	for key, values := range req.Choices.Fields() {
		for _, v := range metadata(values) {
			if v != "" && strings.Contains(ask, strings.ToLower(v)) {
				conditions = append(conditions, engine.Object("key", key, "value", v, "op", "="))
				break
			}
		}
	}
	return engine.Object("logic", "and", "conditions", engine.List(conditions...)).Text()
}

func metadata(values engine.Value) []string {
	var out []string
	for _, v := range values.Elements() {
		out = append(out, v.Text())
	}
	for v := range values.Fields() {
		out = append(out, v)
	}
	return out
}
