package sql

import (
	"regexp"
	"strings"
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
		i += skip(text[i:], k)
	}
	add(len(text))
	return list
}

// withoutComments returns a statement without the comments and blanks that it begins with.
func withoutComments(s string, k kind) string {
	for {
		s = strings.TrimSpace(s)
		n := comment(s, k)
		if n == 0 {
			return s
		}
		s = s[n:]
	}
}

// skip returns the length of the token at the start of s as far as splitting needs it: a comment, a
// quoted text, a word, or one byte.
func skip(s string, k kind) int {
	if n := comment(s, k); n > 0 {
		return n
	}
	switch {
	case s[0] == '\'' || s[0] == '"' || s[0] == '`' && k != postgreSQL:
		return quoted(s, s[0], k == mySQL && s[0] != '`')
	case s[0] == '[' && k == sqliteFile:
		return quoted(s, ']', false)
	case s[0] == '$' && k == postgreSQL:
		return dollarQuoted(s)
	case k == postgreSQL:
		return postgresWord(s)
	}
	return 1
}

func comment(s string, k kind) int {
	switch {
	case strings.HasPrefix(s, "--") && (k != mySQL || len(s) == 2 || s[2] <= ' '), // MySQL has 1--1
		k == mySQL && strings.HasPrefix(s, "#"):
		ends := "\n"
		if k == postgreSQL {
			ends = "\n\r"
		}
		if end := strings.IndexAny(s, ends); end >= 0 {
			return end + 1
		}
		return len(s)
	case k == mySQL && (strings.HasPrefix(s, "/*!") || strings.HasPrefix(s, "/*M!")):
		return 0 // MySQL and MariaDB execute its content
	case strings.HasPrefix(s, "/*"):
		return blockComment(s, k == postgreSQL)
	}
	return 0
}

// blockComment returns the length of a comment; those of PostgreSQL nest.
func blockComment(s string, nests bool) int {
	depth := 1
	for i := 2; i+1 < len(s); i++ {
		switch {
		case s[i:i+2] == "*/":
			if depth--; depth == 0 {
				return i + 2
			}
			i++
		case nests && s[i:i+2] == "/*":
			depth++
			i++
		}
	}
	return len(s)
}

// quoted returns the length of a quoted text. A doubled quote needs no care: it ends one text and
// begins another.
func quoted(s string, end byte, escapes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == end:
			return i + 1
		}
	}
	return len(s)
}

var dollarTag = regexp.MustCompile(`^\$(?:[A-Za-z_\x{80}-\x{10FFFF}][0-9A-Za-z_\x{80}-\x{10FFFF}]*)?\$`)

func dollarQuoted(s string) int {
	tag := dollarTag.FindString(s)
	if tag == "" {
		return 1
	}
	if end := strings.Index(s[len(tag):], tag); end >= 0 {
		return end + 2*len(tag)
	}
	return len(s)
}

var word = regexp.MustCompile(`^[A-Za-z_\x{80}-\x{10FFFF}][$0-9A-Za-z_\x{80}-\x{10FFFF}]*`)

// postgresWord returns the length of a word, in which a dollar is no quote, or of a string with
// escapes, which begins with the word E. A string continues in the next line.
func postgresWord(s string) int {
	n := max(1, len(word.FindString(s)))
	if !strings.EqualFold(s[:n], "e") || !strings.HasPrefix(s[n:], "'") {
		return n
	}
	for {
		n += quoted(s[n:], '\'', true)
		blanks := len(s[n:]) - len(strings.TrimLeft(s[n:], " \t\n\r\f\v"))
		if next := n + blanks; strings.ContainsAny(s[n:next], "\n\r") && strings.HasPrefix(s[next:], "'") {
			n = next
			continue
		}
		return n
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
		if n := comment(rest, k); n > 0 {
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
