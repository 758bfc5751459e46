package component

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// resultRunes is how much of the content of a search result is kept.
const resultRunes = 10_000

// searchResults gives chunks that are plain search results, {title, url, content, score}, the form
// of retrieved chunks, with an aggregate for each. Other chunks stay as they are.
func searchResults(chunks, aggs []engine.Value) (found, docs []engine.Value) {
	docs = aggs
	for _, c := range chunks {
		if _, ok := c.Lookup("chunk_id"); ok {
			found = append(found, c)
			continue
		}
		content := cutRunes(withoutImages(c.Get("content").Text()), resultRunes)
		if strings.TrimSpace(content) == "" {
			continue
		}
		id, title, url := engine.ChunkID(content), c.Get("title"), c.Get("url")
		found = append(found, engine.Object("chunk_id", id, "content", content, "doc_id", id,
			"docnm_kwd", title, "similarity", c.Get("score"), "url", url))
		docs = append(docs, engine.Object("doc_name", title, "doc_id", id, "count", 1, "url", url))
	}
	return found, docs
}

// withoutImages removes images that stand in Markdown as data: ![name](data:image/...).
func withoutImages(text string) string {
	const begin = "](data:image/"
	for from := 0; ; {
		at := strings.Index(text[from:], begin)
		if at < 0 {
			return text
		}
		at += from
		open, end := strings.LastIndexByte(text[:at], '['), strings.IndexByte(text[at:], ')')
		if open < 0 || end < 0 {
			from = at + len(begin)
			continue
		}
		if open > 0 && text[open-1] == '!' {
			open--
		}
		text = text[:open] + text[at+end+1:]
		from = open
	}
}

// cutRunes is text with at most n characters.
func cutRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
