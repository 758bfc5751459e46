package chunk

import (
	"strings"
	"unicode/utf8"
)

// Tokens cuts at delimiters and merges small pieces: the node TokenChunker.
//
// A delimiter in backticks always cuts: every piece is a chunk of any size. Without such a
// delimiter, texts are cut at the plain delimiters and items are not cut at all, and neighbours are
// merged until Size is passed; the piece that passes it still belongs to the chunk. A piece above
// Size stays whole. The recorded cases are in the tests of the host's package chunking.
type Tokens struct {
	Count Counter
	// Size is the number of tokens after which the next chunk begins.
	Size       int
	Delimiters []string
	// Whole makes one chunk of everything.
	Whole bool
	// Overlap is the share of a chunk that is repeated at the beginning of the next one, in percent
	// of its characters, from 0 to 90.
	Overlap int
	// Children cut each chunk of text again; the pieces carry the whole in Parent.
	Children []string
	// TableContext and ImageContext are the numbers of tokens that are copied from the text before
	// and after a table or an image.
	TableContext, ImageContext int
}

// OverlapPercent reads an overlap as settings have it: a share below 1, or else percent; at most
// 90.
func OverlapPercent(v float64) int {
	if v > 0 && v < 1 {
		v *= 100
	}
	return int(min(90, max(0, v)))
}

// cutting cuts at the delimiters in backticks; nil for none.
func (t *Tokens) cutting() *cutter {
	quoted, _ := quotedDelimiters(strings.Join(t.Delimiters, ""))
	return newCutter(quoted)
}

// Cuts reports whether a delimiter cuts at any size.
func (t *Tokens) Cuts() bool { return t.cutting() != nil }

// Units cuts a text after each of the plain delimiters; the concatenated pieces are the text.
func (t *Tokens) Units(text string) (out []string) {
	for _, unit := range newCutter(t.Delimiters).behind(text) {
		if strings.TrimSpace(unit) != "" {
			out = append(out, strings.TrimSuffix(unit, "\n"))
		}
	}
	return out
}

// Text cuts a text.
func (t *Tokens) Text(text string) []Chunk {
	if t.Whole {
		return single(text, "")
	}
	var pieces []string
	if cutting := t.cutting(); cutting != nil {
		pieces = cutting.split(text)
	} else {
		pieces = t.mergeUnits(text)
	}
	var out []Chunk
	children := newCutter(t.Children)
	for _, p := range pieces {
		whole := strings.TrimSpace(p)
		if whole == "" {
			continue
		}
		if children == nil {
			out = append(out, Chunk{Text: whole})
			continue
		}
		for _, child := range children.split(p) {
			if strings.TrimSpace(child) != "" {
				out = append(out, Chunk{Text: child, Parent: whole})
			}
		}
	}
	return out
}

// single returns one chunk, unless the text is blank.
func single(text, kind string) []Chunk {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []Chunk{{Text: text, Type: kind}}
}

// mergeUnits cuts a text at the plain delimiters and merges the pieces, each on a separate line.
func (t *Tokens) mergeUnits(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var characters []string
	for _, r := range strings.Join(t.Delimiters, "") {
		characters = append(characters, string(r))
	}
	m := merger{limit: t.limit(), overlap: t.Overlap}
	for _, unit := range newCutter(characters).split(text) {
		m.add("\n"+unit, t.Count("\n"+unit))
	}
	return m.out
}

// limit returns the number of tokens after which a chunk is complete.
func (t *Tokens) limit() float64 { return float64(t.Size) * float64(100-t.Overlap) / 100 }

// merger joins pieces until a limit is passed.
type merger struct {
	limit   float64
	overlap int
	out     []string
	tokens  int // of the last one, without what it repeats
}

func (m *merger) add(text string, tokens int) {
	last := len(m.out) - 1
	if last >= 0 && float64(m.tokens) <= m.limit {
		m.out[last] += text
		m.tokens += tokens
		return
	}
	if last >= 0 {
		text = tail(m.out[last], m.overlap) + text
	}
	m.out = append(m.out, text)
	m.tokens = tokens
}

// tail returns the last percent of the characters of a text.
func tail(text string, percent int) string {
	if percent <= 0 {
		return ""
	}
	skip := int(float64(utf8.RuneCountInString(text)) * float64(100-percent) / 100)
	for i := range text {
		if skip == 0 {
			return text[i:]
		}
		skip--
	}
	return ""
}

// work is an incomplete chunk.
type work struct {
	Chunk
	tokens int
}

// Items cuts items. Tables and images stay apart.
func (t *Tokens) Items(items []Item) []Chunk {
	if t.Whole {
		var texts []string
		for i := range items {
			if strings.TrimSpace(items[i].Text) != "" {
				texts = append(texts, items[i].Text)
			}
		}
		return single(strings.Join(texts, "\n"), "")
	}
	var all []work
	for i := range items {
		it := &items[i]
		w := work{Chunk: Chunk{
			Text: withoutTags(it.Text), Type: it.kind(), ImageID: it.ImageID,
			Positions: it.Positions,
		}}
		if w.Type != Text || strings.TrimSpace(w.Text) != "" {
			w.tokens = t.Count(w.Text)
			all = append(all, w)
		}
	}
	contexts := t.contexts(all)
	if cutting := t.cutting(); cutting != nil {
		all, contexts = cutRuns(all, contexts, cutting)
	} else {
		all, contexts = t.mergeItems(all, contexts)
	}
	var out []Chunk
	for i := range all {
		c := all[i].Chunk
		c.Text = contexts[i].before + c.Text + contexts[i].after
		if strings.TrimSpace(c.Text) != "" {
			out = append(out, c)
		}
	}
	return t.cutChildren(out)
}

// cutChildren cuts chunks of text again.
func (t *Tokens) cutChildren(chunks []Chunk) []Chunk {
	children := newCutter(t.Children)
	if children == nil {
		return chunks
	}
	var out []Chunk
	for _, c := range chunks {
		if c.Type != Text {
			out = append(out, c)
			continue
		}
		whole := c.Text
		for _, piece := range children.split(whole) {
			if strings.TrimSpace(piece) != "" {
				c.Text, c.Parent = piece, whole
				out = append(out, c)
			}
		}
	}
	return out
}

// cutRuns joins neighbouring texts by newlines and cuts them at delimiters. A piece has the
// positions of the texts that it comes from.
func cutRuns(all []work, contexts []context, at *cutter) (out []work, outContexts []context) {
	for i := 0; i < len(all); {
		if all[i].Type != Text {
			out, outContexts = append(out, all[i]), append(outContexts, contexts[i])
			i++
			continue
		}
		var run strings.Builder
		var ends []int
		first := i
		for ; i < len(all) && all[i].Type == Text; i++ {
			if i > first {
				run.WriteByte('\n')
			}
			run.WriteString(all[i].Text)
			ends = append(ends, run.Len())
		}
		for _, piece := range at.pieces(run.String()) {
			w := work{Chunk: Chunk{Text: strings.TrimSpace(run.String()[piece[0]:piece[1]]), Type: Text}}
			for k, end := range ends {
				begin := end - len(all[first+k].Text)
				if begin < piece[1] && piece[0] < end {
					w.Positions = append(w.Positions, all[first+k].Positions...)
				}
			}
			out, outContexts = append(out, w), append(outContexts, context{})
		}
	}
	return out, outContexts
}

// mergeItems joins neighbouring texts until Size is passed.
func (t *Tokens) mergeItems(all []work, contexts []context) (out []work, outContexts []context) {
	open := false // the last of out is a text that others may join
	for i, w := range all {
		last := len(out) - 1
		switch {
		case w.Type != Text:
			open = false
		case open && float64(out[last].tokens) <= t.limit():
			if out[last].Text != "" && w.Text != "" {
				out[last].Text += "\n"
			}
			out[last].Text += w.Text
			out[last].tokens += w.tokens
			out[last].Positions = append(out[last].Positions[:len(out[last].Positions):len(out[last].Positions)],
				w.Positions...)
			continue
		case open:
			if repeated := tail(out[last].Text, t.Overlap); repeated != "" {
				w.Text = repeated + w.Text
				w.tokens = t.Count(w.Text)
			}
		default:
			open = true
		}
		out, outContexts = append(out, w), append(outContexts, contexts[i])
	}
	return out, outContexts
}

// context is text around a table or image.
type context struct{ before, after string }

// contexts takes text around tables and images, by whole sentences.
func (t *Tokens) contexts(all []work) []context {
	out := make([]context, len(all))
	for i := range all {
		need := map[string]int{Table: t.TableContext, Image: t.ImageContext}[all[i].Type]
		left := need
		for k := i - 1; k >= 0 && left > 0; k-- {
			if all[k].Type == Text {
				out[i].before = t.lastSentences(all[k], left) + out[i].before
				left -= all[k].tokens
			}
		}
		left = need
		for k := i + 1; k < len(all) && left > 0; k++ {
			if all[k].Type == Text {
				out[i].after += t.firstSentences(all[k], left)
				left -= all[k].tokens
			}
		}
	}
	return out
}

// lastSentences returns the end of a text with at least need tokens, or all of it.
func (t *Tokens) lastSentences(w work, need int) (out string) {
	if w.tokens < need {
		return w.Text
	}
	list := sentenceEnds.behind(w.Text)
	for i := len(list) - 1; i >= 0; i-- {
		if out = list[i] + out; t.Count(out) >= need {
			break
		}
	}
	return out
}

// firstSentences returns the beginning of a text with at least need tokens, or all of it.
func (t *Tokens) firstSentences(w work, need int) (out string) {
	if w.tokens < need {
		return w.Text
	}
	for _, s := range sentenceEnds.behind(w.Text) {
		if out += s; t.Count(out) >= need {
			break
		}
	}
	return out
}
