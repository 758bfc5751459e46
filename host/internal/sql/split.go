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
// quoted text, or one byte.
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
	}
	return 1
}

func comment(s string, k kind) int {
	switch {
	case strings.HasPrefix(s, "--"), k == mySQL && strings.HasPrefix(s, "#"):
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end + 1
		}
		return len(s)
	case k == mySQL && strings.HasPrefix(s, "/*!"):
		return 0 // MySQL executes its content
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

var dollarTag = regexp.MustCompile(`^\$(?:[A-Za-z_][A-Za-z_0-9]*)?\$`)

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

var firstWord = regexp.MustCompile(`^[A-Za-z]+`)

// reading are the statements that a node which only reads may run. The transaction is read-only
// besides; this refuses statements that end it, or that cannot run in a transaction.
var reading = map[string]bool{
	"SELECT": true, "WITH": true, "VALUES": true, "TABLE": true, "SHOW": true,
	"EXPLAIN": true, "DESCRIBE": true, "DESC": true,
}

// writesFile finds the form of SELECT of MySQL that writes a file on the server.
var writesFile = regexp.MustCompile(`(?is)\binto\s+(outfile|dumpfile)\b`)

// reads reports whether a statement may run on a node that only reads, and its first word.
func reads(statement string, k kind) (word string, ok bool) {
	s := strings.TrimLeft(withoutComments(statement, k), "( \t\r\n")
	word = strings.ToUpper(firstWord.FindString(withoutComments(s, k)))
	return word, reading[word] && (k != mySQL || !writesFile.MatchString(statement))
}
