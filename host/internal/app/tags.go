package app

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/store"
)

// mostTags and longestTag bound the tags of a canvas, in number and characters.
const (
	mostTags   = 20
	longestTag = 50
)

// Tag is a tag with the number of canvases that have it.
type Tag struct {
	Tag   string
	Count int
}

// CleanTags returns tags without surrounding space, empty ones and repetitions.
func CleanTags(given []string) []string {
	tags, seen := []string{}, map[string]bool{}
	for _, t := range given {
		if t = strings.TrimSpace(t); t != "" && !seen[t] {
			seen[t] = true
			tags = append(tags, t)
		}
	}
	return tags
}

// checkTags refuses tags that lists cannot be filtered by, or that are too long to be shown.
func (p *CanvasPatch) checkTags() error {
	if p.Tags == nil {
		return nil
	}
	tags := CleanTags(*p.Tags)
	if len(tags) > mostTags {
		return &Error{CodeBadArgument, "a canvas has at most 20 tags", "tags"}
	}
	for _, t := range tags {
		if len([]rune(t)) > longestTag || strings.Contains(t, ",") || !PlainText(t) {
			return &Error{CodeBadArgument, "a tag has at most 50 characters, without commas", "tags"}
		}
	}
	return nil
}

// Tags counts the tags of the canvases that a principal may use, in some categories or, with none,
// in all; the most used first.
func (s *Canvases) Tags(ctx context.Context, who Principal, categories []string) ([]Tag, error) {
	list, _, err := s.List(ctx, who, CanvasFilter{Categories: categories}, Page{Documents: NoDocuments})
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, v := range list {
		for _, t := range v.Tags {
			counts[t]++
		}
	}
	out := make([]Tag, 0, len(counts))
	for t, n := range counts {
		out = append(out, Tag{t, n})
	}
	slices.SortFunc(out, func(a, b Tag) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tag, b.Tag))
	})
	return out, nil
}

// SetTags replaces the tags of a canvas. Errors: [ErrNotFound].
func (s *Canvases) SetTags(ctx context.Context, who Principal, id string, tags []string) error {
	if err := s.MayUse(ctx, who, id); err != nil {
		return err
	}
	_, err := s.store.Canvases.Edit(ctx, who.Tenant, id, "", func(v *store.Canvas) error {
		v.Tags = CleanTags(tags)
		return nil
	})
	return err
}
