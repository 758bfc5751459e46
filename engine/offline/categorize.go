package offline

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// categorize returns the category that shares the most words with the question: a word of its name
// counts three times, of an example twice, of its description once. A question equal to an example
// selects its category. Without any common word the result is the last category, the catch-all of
// most canvases.
func categorize(req *engine.ModelRequest) string {
	ask := question(req)
	want := wordSet(ask)
	chosen, highest := "", 0
	for name, c := range req.Choices.Fields() {
		score := 3*overlap(want, name) + overlap(want, c.Get("description").Text())
		examples := exampleList(c.Get("examples"))
		for _, e := range examples {
			if strings.EqualFold(strings.TrimSpace(e), ask) && ask != "" {
				return name
			}
		}
		score += 2 * overlap(want, strings.Join(examples, "\n"))
		if chosen == "" || score > highest || score == 0 && highest == 0 {
			chosen, highest = name, score
		}
	}
	return chosen
}

// exampleList accepts a list of strings, or one string with an example per line.
func exampleList(v engine.Value) []string {
	if v.Kind() != engine.KindList {
		return strings.Split(v.Text(), "\n")
	}
	var out []string
	for _, e := range v.Elements() {
		out = append(out, e.Text())
	}
	return out
}
