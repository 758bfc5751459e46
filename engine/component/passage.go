package component

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// passageTokens bounds the retrieved text for a model; 97 % of it are used.
const passageTokens = 200_000

// citePassages adds retrieved passages to the references of the run and formats them for models,
// each under its citation number.
func citePassages(call *engine.Call, chunks, docAggs []engine.Value) string {
	call.Cite(chunks, docAggs)
	numbers := map[string]string{}
	for number, c := range call.Chunks().Fields() {
		numbers[c.Get("id").Text()] = number
	}
	parts := make([]string, 0, len(chunks))
	tokens := 0
	for _, c := range chunks {
		text := first(c, "content", "content_with_weight").Text()
		if tokens += engine.Tokens(text); tokens > passageTokens*97/100 && len(parts) > 0 {
			break
		}
		parts = append(parts, passage(c, numbers[first(c, "chunk_id", "id").Text()], text))
	}
	return strings.Join(parts, "\n")
}

// citedPassages formats all passages of the run.
func citedPassages(chunks engine.Value) string {
	parts := make([]string, 0, chunks.Len())
	for number, c := range chunks.Fields() {
		parts = append(parts, passage(c, number, c.Get("content").Text()))
	}
	return strings.Join(parts, "\n")
}

// passage formats one passage as a small tree.
func passage(c engine.Value, number, text string) string {
	var b strings.Builder
	b.WriteString("\nID: " + number)
	branch(&b, "Title", first(c, "docnm_kwd", "document_name"))
	branch(&b, "URL", c.Get("url"))
	for name, v := range first(c, "document_metadata", "meta_fields").Fields() {
		branch(&b, name, v)
	}
	b.WriteString("\n└── Content:\n" + text)
	return b.String()
}

func branch(b *strings.Builder, name string, v engine.Value) {
	if text := strings.Join(strings.FieldsFunc(v.Text(), isLineBreak), " "); text != "" {
		b.WriteString("\n├── " + name + ": " + text)
	}
}

func isLineBreak(r rune) bool { return r == '\n' || r == '\r' }

// first returns the first member that exists.
func first(v engine.Value, names ...string) engine.Value {
	for _, name := range names {
		if x, ok := v.Lookup(name); ok {
			return x
		}
	}
	return engine.Null
}

// withoutVectors returns a passage without vectors and other data of search engines.
func withoutVectors(c engine.Value) engine.Value {
	for i := 0; i < c.Len(); {
		name := c.Key(i)
		if name == "vector" || strings.HasPrefix(name, "q_") && strings.HasSuffix(name, "_vec") {
			c = c.Without(name)
			continue
		}
		i++
	}
	return c
}
