// Package chunking cuts documents by the chunk methods of datasets, plays recorded cases of the
// chunkers of pipelines, and counts tokens as the models of OpenAI do.
package chunking

import (
	"fmt"

	"github.com/tiktoken-go/tokenizer/codec"
)

// cl100k is the vocabulary by which the original counts, whatever the model.
var cl100k = codec.NewCl100kBase()

// Count counts the tokens of a text in the vocabulary cl100k_base.
func Count(text string) int {
	n, err := cl100k.Count(text)
	if err != nil {
		// It fails only when its own pattern runs into a time limit, which it does not have.
		panic(fmt.Sprintf("count tokens of %d bytes: %v", len(text), err))
	}
	return n
}

// Counter counts tokens for pipelines by [Count].
type Counter struct{}

// CountTokens implements [engine.Counter].
func (Counter) CountTokens(text string) int { return Count(text) }
