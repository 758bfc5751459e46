package node

import (
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// What a node hands to its plugin may wait in the state of the run, where no mark of a secret may stand. It therefore
// stands there without marks, beside the numbers of the placeholders that the canvas itself wrote; each attempt gives
// those the mark of its own call.

const placeholder = "{{secret:"

// unmarked returns v without mark, and the numbers of the placeholders that carried it, counted over all strings of v.
func unmarked(v engine.Value, mark string) (plain engine.Value, own []int) {
	if mark == "" {
		return v, nil
	}
	n := 0
	plain = v.MapStrings(func(s string) string {
		for rest := s; ; n++ {
			_, after, ok := strings.Cut(rest, placeholder)
			if !ok {
				return engine.UnmarkSecrets(s, mark)
			}
			if strings.HasSuffix(after[:nameLength(after)], ":"+mark) {
				own = append(own, n)
			}
			rest = after
		}
	})
	return plain, own
}

// Marked returns what the plugin is given, {params, arguments?}, with mark in the placeholders of secrets that the canvas
// itself wrote. Others are plain text; without a mark, for a plugin that may use no secret, all are.
func (in *Invocation) Marked(mark string) engine.Value {
	v := engine.Object("params", in.Params)
	if !in.Arguments.IsNull() {
		v = v.With("arguments", in.Arguments)
	}
	if len(in.Own) == 0 || mark == "" {
		return v
	}
	n := 0
	return v.MapStrings(func(s string) string {
		var b strings.Builder
		for rest := s; ; n++ {
			before, after, ok := strings.Cut(rest, placeholder)
			b.WriteString(before)
			if !ok {
				return b.String()
			}
			b.WriteString(placeholder)
			if slices.Contains(in.Own, n) {
				name := after[:nameLength(after)]
				b.WriteString(name + ":" + mark)
				after = after[len(name):]
			}
			rest = after
		}
	})
}

// nameLength is how far the name of a secret goes.
func nameLength(s string) int { return strings.IndexAny(s+"}", "{}") }
