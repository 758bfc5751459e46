package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	port "github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// labels are the metadata of datasets: key -> value in lower case -> documents.
type labels map[string]map[string][]int64

// Metadata gives the metadata of datasets that are for everybody: key -> list of the values that
// occur.
func (b *Base) Metadata(ctx context.Context, datasets []string) (engine.Value, error) {
	return view{b, ""}.Metadata(ctx, datasets)
}

// metadata is that of datasets by their keys.
func (b *Base) metadata(ctx context.Context, datasets []string) (engine.Value, error) {
	if err := b.await(ctx); err != nil {
		return engine.Null, err
	}
	all, err := b.index.labels(ctx, datasets, func(v string) string { return v })
	if err != nil {
		return engine.Null, err
	}
	out := engine.NewObject(len(all))
	for _, key := range sortedKeys(all) {
		out.Set(key, engine.Strings(sortedKeys(all[key])...))
	}
	return out.Value(), nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// labels reads the metadata of datasets; each value is put through form.
func (ix *index) labels(ctx context.Context, datasets []string, form func(string) string) (labels, error) {
	rows, err := ix.db.QueryContext(ctx, `SELECT id, meta FROM documents WHERE meta <> 'null' AND dataset IN (SELECT value FROM json_each(?))`, jsonList(datasets))
	if err != nil {
		return nil, fmt.Errorf("knowledge: %w", err)
	}
	defer rows.Close()
	out := labels{}
	for rows.Next() {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, fmt.Errorf("knowledge: %w", err)
		}
		meta, err := engine.ParseJSONText(text)
		if err != nil {
			continue // written by this package
		}
		for key, v := range meta.Fields() {
			if v.Kind() != engine.KindList {
				v = engine.List(v)
			}
			for _, one := range v.Elements() {
				if out[key] == nil {
					out[key] = map[string][]int64{}
				}
				value := form(one.Text())
				out[key][value] = append(out[key][value], id)
			}
		}
	}
	return out, rows.Err()
}

// filtered are the documents that a filter lets through; restricted is false when there is nothing
// to filter by. Conditions on keys that no document has are ignored. When nothing is left,
// conditions that a model chose do not restrict the search, and those of a canvas let nothing
// through.
func (b *Base) filtered(ctx context.Context, datasets []string, filter engine.Value) (only []int64, restricted bool, err error) {
	conditions := filter.Get("manual")
	if conditions.Len() == 0 {
		return nil, false, nil
	}
	all, err := b.index.labels(ctx, datasets, strings.ToLower)
	if err != nil {
		return nil, false, err
	}
	or := strings.EqualFold(filter.Get("logic").Str(), "or")
	set := map[int64]bool{}
	used := 0
	for _, c := range conditions.Elements() {
		values, known := all[c.Get("key").Str()]
		if !known {
			continue
		}
		fit := map[int64]bool{}
		condition := port.Condition{Operator: c.Get("op").Str(), Value: c.Get("value").Text()}
		for value, ids := range values {
			if condition.Holds(value) {
				for _, id := range ids {
					fit[id] = true
				}
			}
		}
		if used++; used == 1 || or {
			for id := range fit {
				set[id] = true
			}
			continue
		}
		for id := range set {
			if !fit[id] {
				delete(set, id)
			}
		}
	}
	for id := range set {
		only = append(only, id)
	}
	slices.Sort(only)
	return only, len(only) > 0 || filter.Get("method").Str() == "manual", nil
}

// jsonList is a list as a parameter for json_each.
func jsonList[T any](list []T) string {
	text, err := json.Marshal(list)
	if err != nil {
		return "[]" // numbers and texts always can be written
	}
	return string(text)
}
