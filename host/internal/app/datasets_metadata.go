package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Metadata counts the documents of a dataset by their metadata: key, value, number of documents.
// Without documents it means all. Errors: [ErrNotFound] for the dataset.
func (d *Datasets) Metadata(
	ctx context.Context, p Principal, id string, documents ...string,
) (map[string]map[string]int, error) {
	if _, ok := d.watched.key(p, id); ok {
		return countValues(d.watched.folder.Documents(p.Tenant, id), documents), nil
	}
	ds, err := d.get(ctx, p, id)
	if err != nil {
		return nil, err
	}
	labels, err := d.store.Documents.Labels(ctx, store.DocumentFilter{
		Tenant: p.Tenant, Dataset: id, Gate: gateOf(p, &ds),
	}, store.Page{})
	if err != nil {
		return nil, err
	}
	list := make([]dataset.Document, len(labels))
	for i, l := range labels {
		list[i] = dataset.Document{ID: l.ID, Meta: l.Meta}
	}
	return countValues(list, documents), nil
}

// MetadataUpdate changes the metadata of documents of a dataset.
type MetadataUpdate struct {
	Documents []string      // nil means all
	Filter    *index.Filter // of those; nil means all
	Updates   []MetadataSet
	Deletes   []MetadataSet
}

// MetadataSet sets a key, or deletes it.
type MetadataSet struct {
	Key string
	// Value is set; of a deletion it is the only value to be deleted, and nil means the key.
	Value any
	// Match, unless nil, is the value that Value replaces; others stay.
	Match any
}

// UpdateMetadata changes metadata and returns how many documents were changed, of how many that
// were chosen. Errors: [ErrNotFound], those of [Error].
func (d *Datasets) UpdateMetadata(
	ctx context.Context, p Principal, id string, u MetadataUpdate,
) (updated, matched int, err error) {
	ds, err := d.get(ctx, p, id)
	if err != nil {
		return 0, 0, err
	}
	labels, err := d.store.Documents.Labels(ctx, store.DocumentFilter{
		Tenant: p.Tenant, Dataset: id, Gate: gateOf(p, &ds),
	}, store.Page{})
	if err != nil {
		return 0, 0, err
	}
	if u.Documents != nil {
		wanted := map[string]bool{}
		for _, document := range u.Documents {
			wanted[document] = true
		}
		labels = slices.DeleteFunc(labels, func(l store.DocumentLabel) bool { return !wanted[l.ID] })
	}
	var ids []string
	if u.Filter != nil && len(u.Filter.Conditions) > 0 {
		if ids, err = fitting(labels, u.Filter); err != nil {
			return 0, 0, err
		}
	} else {
		for _, l := range labels {
			ids = append(ids, l.ID)
		}
	}
	for _, document := range ids {
		changed := false
		_, err := d.store.Documents.Edit(ctx, p.Tenant, id, document, func(v *store.Document) (store.Affects, error) {
			old := v.Meta
			if changed = u.apply(v); !changed {
				return store.Nothing, nil
			}
			return store.Metadata, growsTooLarge(old, v.Meta)
		})
		if errors.Is(err, ErrNotFound) {
			continue // deleted since it was listed
		}
		if err != nil {
			return updated, len(ids), err
		}
		if changed {
			updated++
		}
	}
	return updated, len(ids), nil
}

// apply changes the metadata of a document and reports whether that made a difference.
func (u *MetadataUpdate) apply(v *store.Document) bool {
	meta := map[string]any{}
	for key, value := range v.Meta {
		meta[key] = value
	}
	for _, s := range u.Updates {
		if s.Match == nil || meta[s.Key] == nil {
			meta[s.Key] = s.Value
			continue
		}
		meta[s.Key] = replaced(meta[s.Key], s.Match, &s.Value)
	}
	for _, s := range u.Deletes {
		if s.Value == nil {
			delete(meta, s.Key)
			continue
		}
		if rest := replaced(meta[s.Key], s.Value, nil); rest == nil {
			delete(meta, s.Key)
		} else {
			meta[s.Key] = rest
		}
	}
	if reflect.DeepEqual(meta, v.Meta) || len(meta) == 0 && len(v.Meta) == 0 {
		return false
	}
	v.Meta = meta
	return true
}

// replaced returns in, a value or a list, with by instead of match; a nil by removes it. The result
// is nil when nothing is left.
func replaced(in, match any, by *any) any {
	same := func(v any) bool {
		return slices.Equal(index.MetaValues(v), index.MetaValues(match))
	}
	list, isList := in.([]any)
	if !isList {
		switch {
		case !same(in):
			return in
		case by == nil:
			return nil
		}
		return *by
	}
	var out []any
	for _, v := range list {
		switch {
		case !same(v):
			out = append(out, v)
		case by != nil:
			out = append(out, *by)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Bounds of metadata: the characters of a key, and the bytes of all metadata of a document as JSON.
const (
	longestMetaKey = 128
	largestMeta    = 64 << 10
)

// CheckMeta refuses metadata that is too large, keys that cannot be shown, and values that are
// neither strings nor numbers nor lists of those.
func CheckMeta(meta map[string]any) error {
	for key, value := range meta {
		switch {
		case strings.TrimSpace(key) == "" || utf8.RuneCountInString(key) > longestMetaKey:
			return &Error{
				CodeBadArgument, fmt.Sprintf("a metadata key must have 1 to %d characters", longestMetaKey),
				"metadata",
			}
		case strings.ContainsFunc(key, unicode.IsControl):
			return &Error{CodeBadArgument, fmt.Sprintf("metadata key %q has control characters", key), "metadata"}
		case !isMetaValue(value):
			return &Error{
				CodeBadArgument, fmt.Sprintf("metadata %q must be a string, a number or a list of those", key),
				"metadata",
			}
		}
	}
	return growsTooLarge(nil, meta)
}

// growsTooLarge refuses a change of the metadata of a document beyond their bound. Metadata of
// earlier versions may be larger, and may shrink.
func growsTooLarge(old, meta map[string]any) error {
	size := func(m map[string]any) int {
		text, err := json.Marshal(m)
		if err != nil {
			return 0 // storing it fails
		}
		return len(text)
	}
	if n := size(meta); n > largestMeta && n > size(old) {
		return &Error{
			CodeBadArgument, fmt.Sprintf("the metadata of a document would have %d bytes, at most %d", n, largestMeta),
			"metadata",
		}
	}
	return nil
}

func isMetaValue(v any) bool {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	return !slices.ContainsFunc(list, func(each any) bool {
		switch each.(type) {
		case string, float64, json.Number:
			return false
		}
		return true
	})
}
