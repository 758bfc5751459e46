package model2vec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// tokenizer cuts texts into numbered tokens, as defined by tokenizer.json of the tokenizers
// library.
type tokenizer struct {
	normalize []func(string) string
	split     []func([]string) []string
	model     interface{ encode(word string) []int }
	vocab     []string // by number; "" for none
	unknown   int      // -1 when the model has none
}

// part is a normalizer or pre-tokenizer in the file: its type, and all settings of the types that
// are known.
type part struct {
	Type string `json:"type"`
	// Sequence.
	Normalizers   []part `json:"normalizers"`
	Pretokenizers []part `json:"pretokenizers"`
	// BertNormalizer.
	CleanText    bool  `json:"clean_text"`
	Chinese      bool  `json:"handle_chinese_chars"`
	StripAccents *bool `json:"strip_accents"`
	Lowercase    bool  `json:"lowercase"`
	// Replace, Prepend.
	Pattern struct {
		String string  `json:"String"`
		Regex  *string `json:"Regex"`
	} `json:"pattern"`
	Content string `json:"content"`
	Prepend string `json:"prepend"`
	// Strip.
	Left  bool `json:"strip_left"`
	Right bool `json:"strip_right"`
	// Precompiled.
	Charsmap []byte `json:"precompiled_charsmap"`
	// Metaspace.
	Replacement string `json:"replacement"`
	Scheme      string `json:"prepend_scheme"`
	PrefixSpace *bool  `json:"add_prefix_space"`
	Split       *bool  `json:"split"`
}

// model is the model in the file.
type model struct {
	Type      string          `json:"type"`
	Vocab     json.RawMessage `json:"vocab"`
	Unknown   string          `json:"unk_token"`
	UnknownID *int            `json:"unk_id"`
	Prefix    *string         `json:"continuing_subword_prefix"`
	Longest   int             `json:"max_input_chars_per_word"`
}

func readTokenizer(data []byte) (*tokenizer, error) {
	var file struct {
		Normalizer   *part `json:"normalizer"`
		Pretokenizer *part `json:"pre_tokenizer"`
		Model        model `json:"model"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	t := &tokenizer{unknown: -1}
	if err := t.addNormalizer(file.Normalizer); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	if err := t.addSplitter(file.Pretokenizer); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	var err error
	switch m := &file.Model; m.Type {
	case "WordPiece", "": // files of old versions do not name it
		err = t.wordPiece(m)
	case "Unigram":
		err = t.unigram(m)
	default:
		err = fmt.Errorf("unknown type %q (one of WordPiece, Unigram)", m.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return t, nil
}

func (t *tokenizer) size() int { return len(t.vocab) }

// medianLength returns the median number of characters of tokens.
func (t *tokenizer) medianLength() int {
	counts, longest := map[int]int{}, 0
	for _, token := range t.vocab {
		n := utf8.RuneCountInString(token)
		counts[n]++
		longest = max(longest, n)
	}
	seen := 0
	for n := range longest + 1 {
		if seen += counts[n]; 2*seen >= len(t.vocab) {
			return max(1, n)
		}
	}
	return 1
}

// encode returns the numbers of the tokens of a text.
func (t *tokenizer) encode(text string) (ids []int) {
	for _, f := range t.normalize {
		text = f(text)
	}
	words := []string{text}
	for _, f := range t.split {
		words = f(words)
	}
	for _, w := range words {
		if w != "" {
			ids = append(ids, t.model.encode(w)...)
		}
	}
	return ids
}

// wordPiece cuts words into the longest pieces of its vocabulary, from left to right.
type wordPiece struct {
	ids     map[string]int
	prefix  string
	unknown int
	longest int // characters of a word
}

func (t *tokenizer) wordPiece(m *model) error {
	w := &wordPiece{prefix: "##", longest: 100}
	if err := json.Unmarshal(m.Vocab, &w.ids); err != nil {
		return fmt.Errorf("vocab: %w", err)
	}
	if m.Prefix != nil {
		w.prefix = *m.Prefix
	}
	if m.Longest > 0 {
		w.longest = m.Longest
	}
	largest := -1
	for token, id := range w.ids {
		if id < 0 || id > 1<<24 {
			return fmt.Errorf("vocab: token %q has number %d", token, id)
		}
		largest = max(largest, id)
	}
	t.vocab = make([]string, largest+1)
	for token, id := range w.ids {
		t.vocab[id] = token
	}
	var ok bool
	if w.unknown, ok = w.ids[m.Unknown]; !ok {
		return fmt.Errorf("unk_token %q is not in the vocabulary", m.Unknown)
	}
	t.unknown, t.model = w.unknown, w
	return nil
}

func (w *wordPiece) encode(word string) []int {
	if utf8.RuneCountInString(word) > w.longest {
		return []int{w.unknown}
	}
	var out []int
	for start := 0; start < len(word); {
		end, id := len(word), -1
		for ; end > start; _, end = 0, end-lastRune(word[start:end]) {
			piece := word[start:end]
			if start > 0 {
				piece = w.prefix + piece
			}
			if known, ok := w.ids[piece]; ok {
				id = known
				break
			}
		}
		if id < 0 {
			return []int{w.unknown}
		}
		out = append(out, id)
		start = end
	}
	return out
}

// lastRune returns the size of the last character.
func lastRune(s string) int {
	_, size := utf8.DecodeLastRuneInString(s)
	return size
}

// Unigram cuts texts into the pieces of a vocabulary whose scores have the highest sum, as
// SentencePiece does.
type Unigram struct{ unigram }

// NewUnigram returns a Unigram with these pieces and scores. Text that no piece covers becomes the
// piece with the number unknown. Pieces with a number below reserved are never found.
func NewUnigram(pieces []string, scores []float64, unknown, reserved int) *Unigram {
	u := unigram{ids: make(map[string]int, len(pieces)), unknown: unknown}
	for id, piece := range pieces {
		u.add(id, piece, scores[id])
		if id < reserved {
			delete(u.ids, piece)
		}
	}
	u.least -= unknownPenalty
	return &Unigram{u}
}

// Encode returns the numbers of the pieces of a text.
func (u *Unigram) Encode(text string) []int { return u.encode(text) }

// unknownPenalty is subtracted from the lowest score for an unknown character, as in SentencePiece.
const unknownPenalty = 10

// add adds the next piece.
func (u *unigram) add(id int, piece string, score float64) {
	u.ids[piece] = id
	u.scores = append(u.scores, score)
	u.longest = max(u.longest, len(piece))
	u.least = min(u.least, score)
}

// unigram cuts words into the pieces whose scores have the highest sum.
type unigram struct {
	ids     map[string]int
	scores  []float64
	longest int // bytes of a piece
	unknown int
	least   float64 // score of a character that is not in the vocabulary
}

func (t *tokenizer) unigram(m *model) error {
	var vocab [][2]any
	if err := json.Unmarshal(m.Vocab, &vocab); err != nil {
		return fmt.Errorf("vocab: %w", err)
	}
	u := &unigram{ids: make(map[string]int, len(vocab)), unknown: -1}
	if m.UnknownID != nil {
		u.unknown = *m.UnknownID
	}
	if u.unknown >= len(vocab) {
		return fmt.Errorf("unk_id %d is not in the vocabulary of %d", u.unknown, len(vocab))
	}
	for id, entry := range vocab {
		piece, isText := entry[0].(string)
		score, isNumber := entry[1].(float64)
		if !isText || !isNumber {
			return fmt.Errorf("vocab: entry %d is not a piece with a score", id)
		}
		u.add(id, piece, score)
		t.vocab = append(t.vocab, piece)
	}
	if len(vocab) == 0 {
		return errors.New("vocab: it is empty")
	}
	u.least -= unknownPenalty
	t.unknown, t.model = u.unknown, u
	return nil
}

func (u *unigram) encode(word string) []int {
	type step struct {
		score float64
		from  int
		id    int
	}
	best := make([]step, len(word)+1)
	for i := range best {
		best[i].from = -1
	}
	best[0].from = 0
	for start, r := range word {
		if best[start].from < 0 {
			continue
		}
		single := start + utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size := utf8.DecodeRuneInString(word[start:])
			single = start + size
		}
		offer := func(end, id int, score float64) {
			if score += best[start].score; best[end].from < 0 || score > best[end].score {
				best[end] = step{score, start, id}
			}
		}
		known := false
		for end := single; end <= min(len(word), start+u.longest); end++ {
			if id, ok := u.ids[word[start:end]]; ok && id != u.unknown {
				offer(end, id, u.scores[id])
				known = known || end == single
			}
		}
		if !known {
			offer(single, u.unknown, u.least)
		}
	}
	var out []int
	for at := len(word); at > 0; at = best[at].from {
		out = append(out, best[at].id)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// metaspace writes blanks as a visible character and splits before each.
func metaspace(p *part) func([]string) []string {
	mark := p.Replacement
	if mark == "" {
		mark = "▁"
	}
	prepend := p.Scheme == "always" || p.Scheme == "first" ||
		p.Scheme == "" && (p.PrefixSpace == nil || *p.PrefixSpace)
	return func(words []string) (out []string) {
		for i, w := range words {
			w = strings.ReplaceAll(w, " ", mark)
			if prepend && (i == 0 || p.Scheme != "first") && !strings.HasPrefix(w, mark) {
				w = mark + w
			}
			if p.Split != nil && !*p.Split {
				out = append(out, w)
				continue
			}
			for w != "" {
				next := strings.Index(w[1:], mark) + 1
				if next == 0 {
					next = len(w)
				}
				out = append(out, w[:next])
				w = w[next:]
			}
		}
		return out
	}
}
