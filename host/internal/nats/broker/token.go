package broker

import (
	"fmt"
	"strings"
)

// Token makes any string usable as one part of a subject: itself when it is
// plain, else "=" and hex. "=" is not plain, so the two forms never collide.
func Token(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "" {
		return s
	}
	return fmt.Sprintf("=%x", s)
}

// Untoken reverses [Token]; ok is false for a part that Token never returns.
func Untoken(t string) (s string, ok bool) {
	if !strings.HasPrefix(t, "=") {
		return t, true
	}
	var raw []byte
	if t == "=" {
		return "", true
	}
	if _, err := fmt.Sscanf(t[1:], "%x", &raw); err != nil {
		return "", false
	}
	return string(raw), true
}
