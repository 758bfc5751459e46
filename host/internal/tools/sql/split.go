package sql

import (
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine/sqltext"
)

var (
	fence    = regexp.MustCompile("(?m)^\\s*```[a-zA-Z]*\\s*$|```(?:sql|SQL)?")
	citation = regexp.MustCompile(`\[ID:\s*\d+\]`)
)

// statements splits text at semicolons outside of strings, quoted names, comments and the dollar
// quotes of PostgreSQL. Code fences and citation marks, which models write, are removed first.
//
// Nothing may depend on where it splits: settings of a server change what a quote is. Databases
// refuse a piece with several statements.
func statements(text string, k kind) []string {
	text = citation.ReplaceAllString(fence.ReplaceAllString(text, " "), " ")
	var list []string
	begin := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[begin:end]); withoutComments(s, k) != "" {
			list = append(list, s)
		}
	}
	for i := 0; i < len(text); {
		if text[i] == ';' {
			add(i)
			begin = i + 1
		}
		i += sqltext.Skip(text[i:], k)
	}
	add(len(text))
	return list
}

// withoutComments returns a statement without the comments and blanks that it begins with.
func withoutComments(s string, k kind) string {
	for {
		s = strings.TrimSpace(s)
		n := sqltext.Comment(s, k)
		if n == 0 {
			return s
		}
		s = s[n:]
	}
}

var firstWord = regexp.MustCompile(`^[A-Za-z]+`)

// readingWords begin the statements that a node which only reads may run on a server. None of them
// ends the transaction around it, or leaves something behind in the session of a pooler.
var readingWords = map[string]bool{
	"SELECT": true, "WITH": true, "VALUES": true, "TABLE": true, "SHOW": true,
	"EXPLAIN": true, "DESCRIBE": true, "DESC": true,
}

// reading returns a statement so that the server reads its first word, or only parentheses before
// it, at the very start: comments before the word, which servers delimit in different ways, are
// behind it. ok reports whether it is one of readingWords.
func reading(statement string, k kind) (text, first string, ok bool) {
	rest, open := statement, 0
	var comments strings.Builder
	for {
		rest = strings.TrimSpace(rest)
		if n := sqltext.Comment(rest, k); n > 0 {
			comments.WriteString(rest[:n])
			rest = rest[n:]
			continue
		}
		if !strings.HasPrefix(rest, "(") {
			break
		}
		open++
		rest = rest[1:]
	}
	first = firstWord.FindString(rest)
	text = strings.Repeat("(", open) + first
	if comments.Len() > 0 {
		text += " " + comments.String()
	}
	text += rest[len(first):]
	first = strings.ToUpper(first)
	return text, first, readingWords[first]
}
