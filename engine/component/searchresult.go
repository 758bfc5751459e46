package component

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// resultRunes bounds the content of a search result, in characters.
const resultRunes = 10_000

// searchResults converts plain search results, {title, url, content, score}, to the form of
// retrieved chunks, with an aggregate for each. Other chunks stay as they are.
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

// withoutImages removes images with data URLs from Markdown: ![name](data:image/...).
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

// cutRunes returns at most n characters of text.
func cutRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
