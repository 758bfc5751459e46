package chunk

import "strings"

// cutter finds any of some texts, at each place the longest. The zero cutter finds nothing.
type cutter struct {
	texts []string  // the longest first
	first [256]bool // bytes that texts begin with
}

// newCutter returns a cutter at texts that are not empty; nil for none.
func newCutter(texts []string) *cutter {
	c := &cutter{texts: longestFirst(texts)}
	if len(c.texts) == 0 {
		return nil
	}
	for _, t := range c.texts {
		c.first[t[0]] = true
	}
	return c
}

// find returns where the first of the texts at or after from begins and ends, or -1, -1.
func (c *cutter) find(text string, from int) (start, end int) {
	for i := from; i < len(text); i++ {
		if !c.first[text[i]] {
			continue
		}
		for _, t := range c.texts {
			if strings.HasPrefix(text[i:], t) {
				return i, i + len(t)
			}
		}
	}
	return -1, -1
}

// split cuts a text at delimiters, which are dropped. Empty pieces are left out. A nil cutter does
// not cut.
func (c *cutter) split(text string) (out []string) {
	for _, p := range c.pieces(text) {
		if p[0] < p[1] {
			out = append(out, text[p[0]:p[1]])
		}
	}
	return out
}

// pieces returns the places between the delimiters.
func (c *cutter) pieces(text string) (out [][2]int) {
	begin := 0
	if c != nil {
		for start, end := c.find(text, 0); start >= 0; start, end = c.find(text, end) {
			out = append(out, [2]int{begin, start})
			begin = end
		}
	}
	return append(out, [2]int{begin, len(text)})
}

// behind cuts a text after each delimiter. The concatenated pieces are the text. A nil cutter does
// not cut.
func (c *cutter) behind(text string) (out []string) {
	begin := 0
	if c != nil {
		for start, end := c.find(text, 0); start >= 0; start, end = c.find(text, end) {
			out = append(out, text[begin:end])
			begin = end
		}
	}
	if begin < len(text) {
		out = append(out, text[begin:])
	}
	return out
}

// longestFirst returns texts without empty ones, those with more bytes first.
func longestFirst(texts []string) (out []string) {
	for _, t := range texts {
		if t == "" {
			continue
		}
		at := len(out)
		for at > 0 && len(out[at-1]) < len(t) {
			at--
		}
		out = append(out, "")
		copy(out[at+1:], out[at:])
		out[at] = t
	}
	return out
}
