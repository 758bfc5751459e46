// Package sqltext reads SQL as far as its quotes and comments: where a statement may be split, and
// which strings of a template hold values. It decides nothing about safety: settings of a server
// change what a quote is.
package sqltext

import "strings"

// Dialect is a family of databases that share the syntax of quotes and comments.
type Dialect int

// The dialects.
const (
	PostgreSQL Dialect = iota
	MySQL
	SQLite
)

// Skip returns the length of the token at the start of s: a comment, a quoted text, or one byte; in
// PostgreSQL also a word, or a string with escapes and its prefix E.
func Skip(s string, d Dialect) int {
	if n := Comment(s, d); n > 0 {
		return n
	}
	switch {
	case s[0] == '\'' || s[0] == '"' || s[0] == '`' && d != PostgreSQL:
		return quoted(s, s[0], d == MySQL && s[0] != '`')
	case s[0] == '[' && d == SQLite:
		return quoted(s, ']', false)
	case s[0] == '$' && d == PostgreSQL:
		return dollarQuoted(s)
	case d == PostgreSQL:
		return postgresWord(s)
	}
	return 1
}

// Comment returns the length of the comment at the start of s, or 0.
func Comment(s string, d Dialect) int {
	switch {
	case strings.HasPrefix(s, "--") && (d != MySQL || len(s) == 2 || s[2] <= ' '), // MySQL has 1--1
		d == MySQL && strings.HasPrefix(s, "#"):
		ends := "\n"
		if d == PostgreSQL {
			ends = "\n\r"
		}
		if end := strings.IndexAny(s, ends); end >= 0 {
			return end + 1
		}
		return len(s)
	case d == MySQL && (strings.HasPrefix(s, "/*!") || strings.HasPrefix(s, "/*M!")):
		return 0 // MySQL and MariaDB execute its content
	case strings.HasPrefix(s, "/*"):
		return blockComment(s, d == PostgreSQL)
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

// dollarTag returns the mark that a dollar quote begins with, $$ or $name$, or "".
func dollarTag(s string) string {
	n := 1
	for n < len(s) && s[n] != '$' && wordByte(s[n], n == 1) {
		n++
	}
	if n < len(s) && s[n] == '$' {
		return s[:n+1]
	}
	return ""
}

// wordLength returns the length of the word at the start of s; it may contain dollars.
func wordLength(s string) int {
	n := 0
	for n < len(s) && (wordByte(s[n], n == 0) || s[n] == '$' && n > 0) {
		n++
	}
	return n
}

// wordByte reports whether c may be part of a word; bytes above ASCII may.
func wordByte(c byte, first bool) bool {
	return c == '_' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || !first && c >= '0' && c <= '9'
}

func dollarQuoted(s string) int {
	tag := dollarTag(s)
	if tag == "" {
		return 1
	}
	if end := strings.Index(s[len(tag):], tag); end >= 0 {
		return end + 2*len(tag)
	}
	return len(s)
}

// postgresWord returns the length of a word, in which a dollar is no quote, or of a string with
// escapes, which begins with the word E. A string continues in the next line.
func postgresWord(s string) int {
	n := max(1, wordLength(s))
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

// Of returns the dialect of a db_type of ExeSQL; ok is false for one without a driver, whose quotes
// are read as those of PostgreSQL.
func Of(dbType string) (d Dialect, ok bool) {
	switch dbType {
	case "postgres", "postgresql":
		return PostgreSQL, true
	case "mysql", "mariadb", "oceanbase":
		return MySQL, true
	case "sqlite":
		return SQLite, true
	}
	return PostgreSQL, false
}
