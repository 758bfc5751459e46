package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// Means by which a search found what its words alone did not.
const (
	// UsedCorrection searched for words near those that no chunk has.
	UsedCorrection = "correction"
	// UsedAnyWord ignored the threshold: chunks have few of the words.
	UsedAnyWord = "any_word"
	// UsedSynonyms added words that the dataset has as synonyms of those of the question.
	UsedSynonyms = "synonyms"
	// UsedPhrase kept the chunks that have the words in quotes as they stand there.
	UsedPhrase = "phrase"
)

// Forgiveness selects the means that a search tries when it finds nothing.
type Forgiveness int

// Kinds of forgiveness.
const (
	Strict     Forgiveness = iota
	Correcting             // words that no chunk has are corrected
	Forgiving              // then the threshold is ignored
)

// readCandidates bounds the hits that are read for a phrase, and of each variant.
const readCandidates = 1024

// findForgiving searches, and searches again by other means when nothing is found.
func (s *searching) findForgiving(ctx context.Context, q *index.Query) (*index.Result, error) {
	found, err := s.findPhrases(ctx, q)
	if err != nil || s.q.Forgive == Strict || q.Text == "" {
		return found, err
	}
	// A question whose words are all known needs no correction, which is the usual case.
	if s.out.Suggestion, err = s.correct(ctx, q); err != nil {
		return nil, err
	}
	if found.Total == 0 && s.out.Suggestion != "" {
		corrected := *q
		corrected.Text = s.out.Suggestion
		if err := s.embedText(ctx, &corrected); err != nil {
			return nil, err
		}
		if found, err = s.findPhrases(ctx, &corrected); err != nil {
			return nil, err
		}
		if found.Total > 0 {
			s.use(UsedCorrection)
			return found, nil
		}
	}
	if found.Total == 0 && s.q.Forgive == Forgiving && q.Threshold > 0 {
		some := *q
		some.Text, some.Threshold = cmp.Or(s.out.Suggestion, q.Text), 0
		if found, err = s.findPhrases(ctx, &some); err != nil {
			return nil, err
		}
		if found.Total > 0 {
			if s.out.Suggestion != "" {
				s.use(UsedCorrection)
			}
			s.use(UsedAnyWord)
		}
	}
	return found, nil
}

func (s *searching) use(means string) {
	if !slices.Contains(s.out.Used, means) {
		s.out.Used = append(s.out.Used, means)
	}
}

// embedText replaces the vector of a query by that of its text, if it has one.
func (s *searching) embedText(ctx context.Context, q *index.Query) error {
	if q.Vector == nil {
		return nil
	}
	model, err := s.d.models.Embedder(ctx, s.p.Tenant, s.model)
	if err != nil {
		return err
	}
	vectors, err := model.Embed(ctx, []string{q.Text})
	if err == nil && hasDirection(vectors[0]) {
		q.Vector = vectors[0]
	}
	return err
}

func hasDirection(v []float32) bool {
	return slices.ContainsFunc(v, func(x float32) bool { return x != 0 })
}

// correct returns the question with words that chunks have; "" if nothing is corrected, as by
// indexes that cannot do it.
func (s *searching) correct(ctx context.Context, q *index.Query) (string, error) {
	if len(s.keys) > 0 && len(s.others) > 0 || len(s.keys)+len(s.others) == 0 {
		return "", nil // a word that one index lacks may be in the other
	}
	searched, keys := s.d.replica.Index(), s.keys
	if len(keys) == 0 {
		searched, keys = s.d.watched.folder.Index(), s.others
	}
	if c, ok := searched.(index.Corrector); ok {
		some := *q
		if some.Datasets = keys; len(s.keys) == 0 {
			some.Gates = nil // the folder has none
		}
		return c.Correct(ctx, &some)
	}
	return "", nil
}

// findPhrases searches, and keeps the hits that have each of the phrases.
func (s *searching) findPhrases(ctx context.Context, q *index.Query) (*index.Result, error) {
	if len(s.phrases) == 0 {
		return s.findVariants(ctx, q)
	}
	wide := *q
	wide.Offset, wide.Limit = 0, max(readCandidates, q.Offset+q.Limit)
	found, err := s.findVariants(ctx, &wide)
	if err != nil {
		return nil, err
	}
	s.use(UsedPhrase)
	if found.Total > wide.Limit {
		s.out.Diagnostics = append(s.out.Diagnostics,
			fmt.Sprintf("phrase: looked for in the best %d of %d hits", wide.Limit, found.Total))
	}
	hits := slices.DeleteFunc(found.Hits, func(h index.Hit) bool {
		text := folded(h.Chunk.Content)
		return slices.ContainsFunc(s.phrases, func(p string) bool { return !strings.Contains(text, p) })
	})
	return pageOfHits(q, hits, found.Diagnostics), nil
}

// findVariants searches for the question and for it with synonyms; a hit has its best score.
func (s *searching) findVariants(ctx context.Context, q *index.Query) (*index.Result, error) {
	variants, err := index.Variants(terms.Settings{}, q.Text, s.synonyms)
	if err != nil {
		return nil, err
	}
	if len(variants) == 0 {
		return s.find(ctx, q)
	}
	s.use(UsedSynonyms)
	type chunk struct{ dataset, document, id string }
	at := map[chunk]int{}
	var hits []index.Hit
	var diagnostics []string
	for i, text := range append([]string{q.Text}, variants...) {
		one := *q
		one.Text, one.Offset, one.Limit = text, 0, max(readCandidates, q.Offset+q.Limit)
		found, err := s.find(ctx, &one)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			diagnostics = found.Diagnostics
		}
		for _, h := range found.Hits {
			key := chunk{h.Dataset, h.Document, h.Chunk.ID}
			if k, ok := at[key]; !ok {
				at[key] = len(hits)
				hits = append(hits, h)
			} else if h.Score > hits[k].Score {
				hits[k] = h
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return pageOfHits(q, hits, diagnostics), nil
}

// pageOfHits returns the page of a query out of all hits.
func pageOfHits(q *index.Query, hits []index.Hit, diagnostics []string) *index.Result {
	out := &index.Result{Total: len(hits), Diagnostics: diagnostics}
	at := map[string]int{} // of documents in the result
	for _, h := range hits {
		i, ok := at[h.Document]
		if !ok {
			i, at[h.Document] = len(out.Documents), len(out.Documents)
			out.Documents = append(out.Documents, index.DocumentCount{Document: h.Document, Name: h.DocumentName})
		}
		out.Documents[i].Count++
	}
	slices.SortStableFunc(out.Documents, func(a, b index.DocumentCount) int { return cmp.Compare(b.Count, a.Count) })
	out.Hits = hits[min(q.Offset, len(hits)):min(q.Offset+q.Limit, len(hits))]
	return out
}

// quotes are the pairs of marks that stand around a phrase.
var quotes = map[rune]rune{'"': '"', '“': '”', '„': '“', '「': '」', '＂': '＂'}

// phrasesOf returns the texts in quotes, folded. A mark without its partner is none.
func phrasesOf(question string) (out []string) {
	runes := []rune(question)
	lacking := map[rune]bool{} // closing marks of which none is left
	for i := 0; i < len(runes); i++ {
		closing, ok := quotes[runes[i]]
		if !ok || lacking[closing] {
			continue
		}
		n := slices.Index(runes[i+1:], closing)
		if n < 0 {
			lacking[closing] = true
			continue
		}
		if phrase := folded(string(runes[i+1 : i+1+n])); phrase != "" {
			out = append(out, phrase)
		}
		i += 1 + n
	}
	return out
}

// folded is a text in lower case with one blank between its words.
func folded(text string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " "))
}
