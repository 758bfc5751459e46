// Package chunking cuts documents by the chunk methods of datasets, plays recorded cases of the
// chunkers of pipelines, and counts tokens as the models of OpenAI do.
package chunking

// Counter counts tokens for pipelines by [Count].
type Counter struct{}

// CountTokens implements [engine.Counter].
func (Counter) CountTokens(text string) int { return Count(text) }
