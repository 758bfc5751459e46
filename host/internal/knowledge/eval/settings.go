package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// Mode is the kind of search.
type Mode string

// Modes.
const (
	Words   Mode = "words"
	Vectors Mode = "vectors"
	Hybrid  Mode = "hybrid"
)

// Settings configures an evaluation.
type Settings struct {
	Mode         Mode           `json:"mode"`
	Chunk        string         `json:"chunk"` // how documents are cut: one of Chunkings
	Index        index.Settings `json:"index"`
	VectorWeight float64        `json:"vector_weight"`
	Fusion       index.Fusion   `json:"fusion"`
	TopK         int            `json:"top_k"`
}

// Defaults returns the settings of a new dataset.
func Defaults() Settings {
	return Settings{
		Mode: Words, Chunk: Structure, Index: index.Settings{}.Normal(),
		VectorWeight: 0.3, Fusion: index.Weighted, TopK: index.DefaultTopK,
	}
}

// keys maps the names of settings to their setters.
var keys = map[string]func(s *Settings, value string) error{
	"mode": func(s *Settings, v string) error {
		s.Mode = Mode(v)
		return oneOf(v, string(Words), string(Vectors), string(Hybrid))
	},
	"chunk":         func(s *Settings, v string) error { s.Chunk = v; return oneOf(v, Chunkings()...) },
	"language":      func(s *Settings, v string) error { s.Index.Language, s.Index.Stemmer = v, ""; return nil },
	"stemmer":       func(s *Settings, v string) error { s.Index.Stemmer = v; return nil },
	"k1":            func(s *Settings, v string) error { return parameter(&s.Index.K1, v) },
	"b":             func(s *Settings, v string) error { return parameter(&s.Index.B, v) },
	"vector_weight": func(s *Settings, v string) error { return number(&s.VectorWeight, v, 1) },
	"fusion": func(s *Settings, v string) error {
		s.Fusion = index.Fusion(v)
		return oneOf(v, string(index.Weighted), string(index.RRF))
	},
	"top_k": func(s *Settings, v string) (err error) { s.TopK, err = strconv.Atoi(v); return err },
}

// Keys returns the names of all settings.
func Keys() []string {
	return []string{"mode", "chunk", "language", "stemmer", "k1", "b", "vector_weight", "fusion", "top_k"}
}

// Set changes settings by a list such as "mode=hybrid,k1=1.2".
func (s *Settings) Set(list string) error {
	for entry := range strings.SplitSeq(list, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if !ok {
			return fmt.Errorf("setting %q is not KEY=VALUE", entry)
		}
		set := keys[key]
		if set == nil {
			return fmt.Errorf("unknown setting %q (one of %s)", key, strings.Join(Keys(), ", "))
		}
		if err := set(s, value); err != nil {
			return fmt.Errorf("setting %s=%s: %w", key, value, err)
		}
	}
	s.Index = s.Index.Normal()
	return nil
}

func oneOf(v string, all ...string) error {
	if !slices.Contains(all, v) {
		return fmt.Errorf("unknown value (one of %s)", strings.Join(all, ", "))
	}
	return nil
}

func number(to *float64, v string, most float64) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= 0 && f <= most) {
		return fmt.Errorf("it is not a number from 0 to %v", most)
	}
	*to = f
	return nil
}

// parameter reads a parameter of BM25. The index takes 0 for its default and less for 0.
func parameter(to *float64, v string) error {
	if err := number(to, v, 100); err != nil {
		return err
	}
	if *to == 0 {
		*to = -1
	}
	return nil
}

// UsesVectors reports whether documents need vectors.
func (s *Settings) UsesVectors() bool { return s.Mode != Words }
