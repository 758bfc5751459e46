package node

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// The input of a plugin may be stored in the state of the run, which must not contain marks of
// secrets. It is therefore stored without marks and with a string that has, for each placeholder in
// order, 1 if the canvas itself contains it and 0 if not; each attempt adds the mark of its call to
// the former.

// unmarked returns v without mark, and which of the placeholders in its strings had it; ""
// if none had.
func unmarked(v engine.Value, mark string) (plain engine.Value, own string) {
	if mark == "" {
		return v, ""
	}
	var each []byte
	plain = mapSecrets(v, func(name string) string {
		name, marked := strings.CutSuffix(name, ":"+mark)
		if marked {
			each = append(each, '1')
		} else {
			each = append(each, '0')
		}
		return engine.Placeholder(name, "")
	})
	return plain, string(each)
}

// Marked returns the params and arguments for the plugin, with mark in the placeholders
// of secrets in the canvas itself. Others are plain text; without a mark, for a plugin that
// may not use secrets, all are.
func (in *Invocation) Marked(mark string) (params, arguments engine.Value) {
	if in.Own == "" || mark == "" {
		return in.Params, in.Arguments
	}
	n := -1
	change := func(name string) string {
		if n++; n < len(in.Own) && in.Own[n] == '1' {
			return engine.Placeholder(name, mark)
		}
		return engine.Placeholder(name, "")
	}
	params = mapSecrets(in.Params, change) // first, as unmarked counted them
	return params, mapSecrets(in.Arguments, change)
}

func mapSecrets(v engine.Value, change func(name string) string) engine.Value {
	return v.MapStrings(func(s string) string { return engine.MapSecrets(s, change) })
}
