package offline

import "strings"

// The find functions return the first part of a string that matches a format, or "". They do not
// use package regexp: its Unicode tables, together with crypto/sha1, made the browser module a
// tenth larger.

// findURL finds a URL.
func findURL(s string) string {
	for from := 0; ; {
		i := strings.Index(s[from:], "http")
		if i < 0 {
			return ""
		}
		start := from + i
		rest, ok := strings.CutPrefix(strings.TrimPrefix(s[start+4:], "s"), "://")
		if end := strings.IndexAny(rest+" ", " \t\n\f\r\"'<>，。）)"); ok && end > 0 {
			return s[start : len(s)-len(rest)+end]
		}
		from = start + 4
	}
}

// findEmail finds an email address.
func findEmail(s string) string {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '@')
		if i < 0 {
			return ""
		}
		at := from + i
		start := at
		for start > from && (isWord(s[start-1]) || strings.IndexByte(".+-", s[start-1]) >= 0) {
			start--
		}
		dot := at + 1
		for dot < len(s) && (isWord(s[dot]) || s[dot] == '-') {
			dot++
		}
		end := 0
		for j := dot + 1; j < len(s) && (isWord(s[j]) || s[j] == '.' || s[j] == '-'); j++ {
			if isWord(s[j]) {
				end = j + 1
			}
		}
		if start < at && dot > at+1 && dot < len(s) && s[dot] == '.' && end > 0 {
			return s[start:end]
		}
		from = at + 1
	}
}

// findNumber finds a decimal number.
func findNumber(s string) string {
	i := strings.IndexAny(s, "0123456789")
	if i < 0 {
		return ""
	}
	end := i + run(s[i:], isDigit)
	if end+1 < len(s) && s[end] == '.' && isDigit(s[end+1]) {
		end += 1 + run(s[end+1:], isDigit)
	}
	if i > 0 && s[i-1] == '-' {
		i--
	}
	return s[i:end]
}

// findDate finds a date such as 2025-01-31.
func findDate(s string) string {
	const form = "dddd-dd-dd"
next:
	for i := 0; i+len(form) <= len(s); i++ {
		for j := range len(form) {
			if c := s[i+j]; form[j] == 'd' && !isDigit(c) || form[j] == '-' && c != '-' {
				continue next
			}
		}
		return s[i : i+len(form)]
	}
	return ""
}

// findTicker finds a stock symbol: AAPL, BRK.B, 600519.SS.
func findTicker(s string) string {
	for i := range len(s) {
		if !isWord(s[i]) || i > 0 && isWord(s[i-1]) {
			continue
		}
		if n := symbol(s[i:], isCapital, 1, 5, 1, 3); n > 0 {
			return s[i : i+n]
		}
		if n := symbol(s[i:], isDigit, 4, 6, 2, 2); n > 0 {
			return s[i : i+n]
		}
	}
	return ""
}

// symbol returns the length of the word at the start of s if it has least to most bytes of a kind.
// It includes a suffix of a dot and leastEnd to mostEnd capitals, if present. It returns 0 if there
// is no match.
func symbol(s string, of func(byte) bool, least, most, leastEnd, mostEnd int) int {
	n := run(s, of)
	if n < least || n > most {
		return 0
	}
	if n < len(s) && s[n] == '.' {
		if m := run(s[n+1:], isCapital); m >= leastEnd && m <= mostEnd && ends(s[n+1+m:]) {
			return n + 1 + m
		}
	}
	if !ends(s[n:]) {
		return 0
	}
	return n
}

// run returns how many bytes at the start of s are of a kind.
func run(s string, of func(byte) bool) int {
	n := 0
	for n < len(s) && of(s[n]) {
		n++
	}
	return n
}

func ends(s string) bool { return s == "" || !isWord(s[0]) }

func isDigit(c byte) bool   { return c >= '0' && c <= '9' }
func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }
func isWord(c byte) bool {
	return isDigit(c) || isCapital(c) || c >= 'a' && c <= 'z' || c == '_'
}
