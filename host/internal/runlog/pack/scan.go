package pack

import "bytes"

// scan reads JSON text without building values.
type scan struct {
	text []byte
	at   int
}

// deepest bounds the nesting of a record; the parser of documents has the same limit or a lower
// one.
const deepest = 20_000

// copy copies one value to out, its members and elements through inner, names through rename.
func (s *scan) copy(out *[]byte, depth int, inner func(depth int) bool, rename func(key []byte) []byte) bool {
	if s.at >= len(s.text) || depth > deepest {
		return false
	}
	switch open := s.text[s.at]; open {
	case '"':
		return s.take(out, s.quoted())
	case '{', '[':
		return s.copyMembers(out, open, depth, inner, rename)
	}
	n := bytes.IndexAny(s.text[s.at:], ",]}")
	if n < 0 {
		n = len(s.text) - s.at
	}
	return n > 0 && s.take(out, n)
}

func (s *scan) copyMembers(out *[]byte, open byte, depth int, inner func(depth int) bool,
	rename func(key []byte) []byte,
) bool {
	s.take(out, 1)
	for first := true; s.at < len(s.text); first = false {
		switch c := s.text[s.at]; {
		case c == open+2: // } and ] stand two places behind { and [
			return s.take(out, 1)
		case c == ',' && !first:
			s.take(out, 1)
		case !first:
			return false
		}
		if open == '{' {
			n := s.quoted()
			if n == 0 || s.at+n >= len(s.text) || s.text[s.at+n] != ':' {
				return false
			}
			key := s.text[s.at : s.at+n]
			if first {
				key = rename(key)
			}
			*out = append(append(*out, key...), ':')
			s.at += n + 1
		}
		if !inner(depth + 1) {
			return false
		}
	}
	return false
}

func (s *scan) take(out *[]byte, n int) bool {
	*out = append(*out, s.text[s.at:s.at+n]...)
	s.at += n
	return n > 0
}

// quoted returns the length of the string that begins here; 0 if no string does.
func (s *scan) quoted() int {
	text := s.text[s.at:]
	if len(text) == 0 || text[0] != '"' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		n := bytes.IndexAny(text[i:], `"\`)
		if n < 0 {
			return 0
		}
		if i += n; text[i] == '"' {
			return i + 1
		}
		i++ // what follows a backslash
	}
	return 0
}
