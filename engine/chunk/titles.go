package chunk

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/pattern"
)

// Titles cuts at headings: the node TitleChunker. The recorded cases are in the tests of the host's
// package chunking.
type Titles struct {
	Count Counter
	// Group merges neighbouring sections; otherwise each chunk is a path of headings with its text.
	Group bool
	// Levels are alternative lists of patterns, one pattern for each level of headings. The list
	// that matches most lines is used.
	Levels [][]string
	// Depth is the level down to which headings begin a chunk; 0 means, with Group, the most
	// frequent level.
	Depth int
	// EachHeading makes a chunk of every heading that has text, not only of those without headings
	// below.
	EachHeading bool
	// RootAsHeading puts the first chunk before all others instead of in front of them.
	RootAsHeading bool
	// Limit is the number of tokens above which a chunk is cut at sentences; 0 means never.
	Limit int
}

// Check reports patterns that cannot be compiled.
func (t *Titles) Check() error {
	_, err := t.patterns(nil, nil)
	return err
}

// body is the level of lines that are not headings.
const body = math.MaxInt

// Sizes of groups, in tokens: a smaller one takes the next section in, a larger one is closed.
const (
	smallestGroup = 32
	largestGroup  = 1024
)

// record is a line or an item.
type record struct {
	Item
	level int
}

// Text cuts the lines of a text. Blank ones are left out. plain removes blanks at their ends.
func (t *Titles) Text(text string, plain bool) ([]Chunk, error) {
	var records []record
	for line := range strings.SplitSeq(text, "\n") {
		if plain {
			line = strings.TrimSpace(line)
		}
		if line != "" {
			records = append(records, record{Item: Item{Text: line}})
		}
	}
	return t.cut(records, false)
}

// Items cuts items; each is a line.
func (t *Titles) Items(items []Item) ([]Chunk, error) {
	records := make([]record, len(items))
	for i, item := range items {
		records[i].Item = item
	}
	return t.cut(records, true)
}

func (t *Titles) cut(records []record, typed bool) ([]Chunk, error) {
	if err := t.setLevels(records); err != nil {
		return nil, err
	}
	var groups [][]record
	if t.Group {
		groups = t.group(records)
	} else {
		groups = t.paths(records)
	}
	var out []Chunk
	for _, g := range groups {
		out = append(out, chunkOf(g, typed))
	}
	if t.RootAsHeading && len(out) > 1 {
		root := out[0]
		out = out[1:]
		for i := range out {
			out[i].Text = root.Text + "\n" + out[i].Text
			if out[i].Type == root.Type {
				out[i].Positions = append(root.Positions[:len(root.Positions):len(root.Positions)], out[i].Positions...)
			}
		}
	}
	return t.limit(out), nil
}

// chunkOf joins records.
func chunkOf(records []record, typed bool) Chunk {
	first := &records[0].Item
	if first.kind() != Text {
		return Chunk{Text: first.Text, Type: first.kind(), ImageID: first.ImageID, Positions: first.Positions}
	}
	var text strings.Builder
	c := Chunk{}
	for i := range records {
		text.WriteString(records[i].Text + "\n")
		c.Positions = append(c.Positions, records[i].Positions...)
	}
	c.Text = text.String()
	if typed {
		c.Text, c.Type = withoutTags(c.Text), Text
	}
	return c
}

// setLevels sets the heading level of each record.
func (t *Titles) setLevels(records []record) error {
	steps := stepsFor(records)
	patterns, err := t.patterns(records, &steps)
	if err != nil {
		return err
	}
	for i := range records {
		r := &records[i]
		r.level = body
		if r.kind() != Text {
			continue
		}
		level, err := levelOf(strings.TrimSpace(r.Text), patterns, &steps)
		if err != nil {
			return err
		}
		if level > 0 {
			r.level = level
		} else if isTitle(r.Layout) && looksLikeTitle(r.Text) {
			r.level = len(patterns) + 1
		}
	}
	return nil
}

// isTitle reports whether a parser's name of a layout means a heading.
func isTitle(layout string) bool {
	layout = strings.ToLower(layout)
	return strings.Contains(layout, "section") || strings.Contains(layout, "title") || strings.Contains(layout, "head")
}

// stepsFor returns how many steps the search for headings may take: patterns with look-ahead may
// take the square of a text.
func stepsFor(records []record) int {
	steps := 10_000_000
	for i := range records {
		steps += 300 * len(records[i].Text)
	}
	return steps
}

// patterns returns those of the list that matches most records; of equal ones the first.
func (t *Titles) patterns(records []record, steps *int) ([]*pattern.Pattern, error) {
	var best []*pattern.Pattern
	most := 0
	for _, level := range t.Levels {
		var list []*pattern.Pattern
		for _, p := range level {
			if p == "" {
				continue
			}
			compiled, err := pattern.Compile(p)
			if err != nil {
				return nil, fmt.Errorf("level pattern %q: %w", p, err)
			}
			list = append(list, compiled)
		}
		hits := 0
		for i := range records {
			found, err := levelOf(strings.TrimSpace(records[i].Text), list, steps)
			if err != nil {
				return nil, err
			}
			if found > 0 {
				hits++
			}
		}
		if hits > most {
			best, most = list, hits
		}
	}
	return best, nil
}

// levelOf returns the number of the first pattern that a line begins with, from 1; 0 means none.
func levelOf(line string, patterns []*pattern.Pattern, steps *int) (int, error) {
	if line == "" || numberedText.Match(line) {
		return 0, nil
	}
	for i, p := range patterns {
		matched, ok := p.MatchWithin(line, steps)
		if !ok {
			return 0, fmt.Errorf("level pattern %q takes too long for this document; make it simpler", p)
		}
		if matched {
			return i + 1, nil
		}
	}
	return 0, nil
}

// numberedText matches a line that begins with a number and is not a heading: 0 ..., 3 4 ...,
// 12....
var numberedText = pattern.MustCompile(`(?:0|[0-9]+ +[0-9~个只-]|[0-9]+\.{2,}|[0-9]+(?:\.[0-9]+){2,}[的中])`)

// article is the number of an article of a law.
var article = pattern.MustCompile(`第[零一二三四五六七八九十百0-9]+条`)

// looksLikeTitle reports whether a text that was classified as a heading by its layout can be one.
func looksLikeTitle(text string) bool {
	text, _, _ = strings.Cut(text, "@")
	text = strings.TrimSpace(text)
	if article.Match(text) {
		return true
	}
	const mostWords, mostCharacters = 12, 32
	if len(strings.Fields(text)) > mostWords ||
		!strings.Contains(text, " ") && utf8.RuneCountInString(text) >= mostCharacters {
		return false
	}
	return !strings.ContainsAny(text, ",;，。；！!")
}

// target returns the level down to which headings make chunks; 0 when there is no heading.
func target(records []record, depth int) int {
	seen := map[int]bool{}
	deepest := 0
	for _, r := range records {
		if r.level < body {
			seen[r.level] = true
			deepest = max(deepest, r.level)
		}
	}
	left := min(max(depth, 1), len(seen))
	for level := 1; level <= deepest; level++ {
		if seen[level] {
			if left--; left == 0 {
				return level
			}
		}
	}
	return 0
}

// mostFrequent returns the most frequent level; the first one if several are equal. 0 means none.
func mostFrequent(records []record) (level int) {
	counts := map[int]int{}
	for _, r := range records {
		if r.level < body {
			counts[r.level]++
		}
	}
	for _, r := range records {
		if r.level < body && counts[r.level] > counts[level] {
			level = r.level
		}
	}
	return level
}

// group joins the records of a section, and small sections.
func (t *Titles) group(records []record) (groups [][]record) {
	deepest := mostFrequent(records)
	if t.Depth > 0 {
		deepest = target(records, t.Depth)
	}
	section, before, tokens := 0, -1, 0
	open := false // the last group may grow
	for i, r := range records {
		if i > 0 && r.level <= deepest {
			section++
		}
		if r.kind() != Text {
			groups = append(groups, []record{r})
			open, tokens, before = false, 0, -1
			continue
		}
		if strings.TrimSpace(r.Text) == "" {
			continue
		}
		n := t.Count(r.Text)
		if open && (tokens < smallestGroup || tokens < largestGroup && section == before) {
			groups[len(groups)-1] = append(groups[len(groups)-1], r)
			tokens += n
		} else {
			groups = append(groups, []record{r})
			tokens = n
		}
		open, before = true, section
	}
	return groups
}

// paths makes a group of each path of headings, between tables and images.
func (t *Titles) paths(records []record) (groups [][]record) {
	start := 0
	flush := func(end int) {
		if run := records[start:end]; len(run) > 0 {
			groups = append(groups, t.runPaths(run)...)
		}
		start = end + 1
	}
	for i, r := range records {
		if r.kind() != Text {
			flush(i)
			groups = append(groups, []record{r})
		}
	}
	flush(len(records))
	return groups
}

// node is a heading with the text below it.
type node struct {
	level    int // 0 for the root
	title    []record
	text     []record
	children []*node
}

func (t *Titles) runPaths(run []record) (groups [][]record) {
	depth := target(run, t.Depth)
	if depth == 0 {
		return [][]record{run}
	}
	root := &node{}
	stack := []*node{root}
	for i, r := range run {
		if r.level > depth {
			top := stack[len(stack)-1]
			top.text = append(top.text, r)
			continue
		}
		for len(stack) > 1 && r.level <= stack[len(stack)-1].level {
			stack = stack[:len(stack)-1]
		}
		n := &node{level: r.level, title: run[i : i+1]}
		top := stack[len(stack)-1]
		top.children = append(top.children, n)
		stack = append(stack, n)
	}
	if len(root.text) > 0 {
		groups = append(groups, root.text)
	}
	for _, n := range root.children {
		groups = t.walk(groups, n, nil)
	}
	return groups
}

// walk adds the paths below a heading; above are the records that all of them begin with.
func (t *Titles) walk(groups [][]record, n *node, above []record) [][]record {
	head := append(above[:len(above):len(above)], n.title...)
	whole := append(head[:len(head):len(head)], n.text...)
	if !t.EachHeading {
		head = whole
	}
	if len(n.children) == 0 || t.EachHeading && len(n.text) > 0 {
		groups = append(groups, whole)
	}
	for _, c := range n.children {
		groups = t.walk(groups, c, head)
	}
	return groups
}

// limit cuts chunks of text that are too large at the ends of sentences.
func (t *Titles) limit(chunks []Chunk) (out []Chunk) {
	for _, c := range chunks {
		if t.Limit <= 0 || c.Type == Table || c.Type == Image || t.Count(c.Text) <= t.Limit {
			out = append(out, c)
			continue
		}
		piece, tokens := "", 0
		for _, s := range sentenceEnds.behind(c.Text) {
			n := t.Count(s)
			if piece != "" && tokens+n > t.Limit {
				out = append(out, c.with(piece))
				piece, tokens = "", 0
			}
			piece += s
			tokens += n
		}
		out = append(out, c.with(piece))
	}
	return out
}

// with returns the chunk with another text.
func (c Chunk) with(text string) Chunk {
	c.Text = text
	return c
}
