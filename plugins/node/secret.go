package node

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// What a node hands to its plugin may wait in the state of the run, where no mark of a secret may
// stand. It therefore stands there without marks, beside a text that says of each placeholder, in
// order, whether the canvas itself wrote it (1) or not (0); each attempt gives those the mark of
// its own call.

// unmarked returns v without mark, and which of the placeholders in all its strings carried it; ""
// when none did.
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

// Marked returns the params and arguments that the plugin is given, with mark in the placeholders
// of secrets that the canvas itself wrote. Others are plain text; without a mark, for a plugin that
// may use no secret, all are.
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
