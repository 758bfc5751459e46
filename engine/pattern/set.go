package pattern

import "unicode"

// set is a set of runes.
type set struct {
	ranges  []rune // pairs of first and last
	kinds   string // letters of d D w W s S
	negated bool
	fold    bool // letters match whatever their case
}

func single(r rune, fold bool) *set { return &set{ranges: []rune{r, r}, fold: fold} }

func (s *set) has(r rune) bool {
	in := s.contains(r)
	if s.fold && !in {
		for f := unicode.SimpleFold(r); f != r && !in; f = unicode.SimpleFold(f) {
			in = s.contains(f)
		}
	}
	return in != s.negated
}

func (s *set) contains(r rune) bool {
	for i := 0; i < len(s.ranges); i += 2 {
		if s.ranges[i] <= r && r <= s.ranges[i+1] {
			return true
		}
	}
	for i := range len(s.kinds) {
		var is bool
		kind := s.kinds[i]
		switch kind | 0x20 { // in lower case
		case 'd':
			is = unicode.IsDigit(r)
		case 'w':
			is = isWord(r)
		case 's':
			is = isSpace(r)
		}
		if is == (kind&0x20 != 0) {
			return true
		}
	}
	return false
}
