package index

import (
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// maxVariants bounds the questions that are searched besides the one that was asked.
const maxVariants = 4

// maxAsked bounds the terms of a question among which words with synonyms are looked for.
const maxAsked = 256

// Variants returns a question with a word replaced by a synonym, once for each synonym in groups. A
// variant has about as many words, so that similarities are comparable: a word that no chunk
// has would outweigh its synonym in one question with both.
func Variants(s terms.Settings, question string, groups [][]string) (out []string, err error) {
	if len(groups) == 0 {
		return nil, nil
	}
	a, err := terms.New(s)
	if err != nil {
		return nil, err
	}
	asked := a.Append(nil, question)
	asked = asked[:min(len(asked), maxAsked)]
	for _, group := range groups {
		if len(out) == maxVariants {
			break
		}
		for i, word := range group {
			at, n := placeOf(asked, a.Append(nil, word))
			if n == 0 {
				continue
			}
			start, end := asked[at].Start, asked[at+n-1].End
			for k, other := range group {
				variant := question[:start] + other + question[end:]
				if k != i && !slices.Contains(out, variant) && len(out) < maxVariants {
					out = append(out, variant)
				}
			}
			break
		}
	}
	return out, nil
}

// placeOf returns where the terms of a word stand in a row among others, and how many they are; 0
// if they do not.
func placeOf(all, word []terms.Term) (at, n int) {
	if len(word) == 0 || !slices.ContainsFunc(word, func(t terms.Term) bool { return !t.Stop }) {
		return 0, 0
	}
	for at := range all {
		if at+len(word) > len(all) {
			break
		}
		same := func(a, b terms.Term) bool { return a.Text == b.Text }
		if slices.EqualFunc(all[at:at+len(word)], word, same) {
			return at, len(word)
		}
	}
	return 0, 0
}
