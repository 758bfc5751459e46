package opensearch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// double answers as much of a server's HTTP interface as the adapter uses, written from its
// documentation. As in a server, what was written is read by its id at once and found by searches
// after a refresh, and deleting by a query sees what searches see.
type double struct {
	t testing.TB

	mu      sync.Mutex
	elastic bool
	indexes map[string]*doubleIndex
	seq     int64
	busy    int // how many of the next requests are refused
	broken  func(method, path string) bool
}

type doubleIndex struct {
	mappings map[string]any
	rows     map[string]doubleRow // as written
	visible  map[string]doubleRow // as of the last refresh
}

type doubleRow struct {
	source map[string]any
	seq    int64
}

func newDouble(t testing.TB, elastic bool) (*double, string) {
	d := &double{t: t, elastic: elastic, indexes: map[string]*doubleIndex{}}
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	return d, s.URL
}

// refusal is an answer with another status than 200.
type refusal struct {
	status int
	reason string
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		d.t.Error(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	answer := any(refusal{http.StatusTooManyRequests, "rejected_execution_exception"})
	switch {
	case d.busy > 0:
		d.busy--
	case d.broken != nil && d.broken(r.Method, r.URL.Path):
		answer = refusal{http.StatusInternalServerError, "broken"}
	default:
		answer = d.answer(r, body)
	}
	if no, ok := answer.(refusal); ok {
		w.WriteHeader(no.status)
		answer = object{"error": object{"type": no.reason}, "status": no.status}
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		d.t.Error(err)
	}
}

var noIndex = refusal{http.StatusNotFound, "index_not_found_exception"}

func (d *double) answer(r *http.Request, body []byte) any {
	parts := strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 3)
	name, action := parts[0], ""
	if len(parts) > 1 {
		action = parts[1]
	}
	switch {
	case name == "":
		version := object{"number": "3.1.0", "distribution": "opensearch"}
		if d.elastic {
			version = object{"number": "9.1.0"}
		}
		return object{"version": version}
	case name == "_bulk":
		return d.bulk(body)
	case action == "" && r.Method == http.MethodPut:
		return d.create(name, body)
	case action == "_mapping" && r.Method == http.MethodGet:
		return d.mapping(name)
	case action == "_doc" && r.Method == http.MethodPut && d.indexes[name] == nil && strings.HasSuffix(name, "-locks"):
		d.indexes[name] = &doubleIndex{rows: map[string]doubleRow{}, visible: map[string]doubleRow{}}
	}
	x := d.indexes[name]
	if x == nil {
		return noIndex
	}
	switch action {
	case "":
		delete(d.indexes, name)
		return object{"acknowledged": true}
	case "_mapping":
		return d.extend(x, body)
	case "_doc":
		return d.row(x, r, parts[2], body)
	case "_refresh":
		x.visible = maps.Clone(x.rows)
		return object{"_shards": object{"failed": 0}}
	case "_search":
		return d.search(x, d.parse(body))
	case "_delete_by_query":
		for _, id := range d.matching(x, d.parse(body)["query"]) {
			delete(x.rows, id)
		}
		return object{"failures": []any{}}
	}
	return refusal{http.StatusBadRequest, "unknown request " + r.URL.Path}
}

func (d *double) parse(body []byte) map[string]any {
	out := map[string]any{}
	if err := json.Unmarshal(body, &out); err != nil {
		d.t.Errorf("%v: %s", err, body)
	}
	return out
}

func (d *double) create(name string, body []byte) any {
	if d.indexes[name] != nil {
		return refusal{http.StatusBadRequest, "resource_already_exists_exception"}
	}
	in := d.parse(body)
	settings := in["settings"].(map[string]any)["index"].(map[string]any)
	if settings["refresh_interval"] != "-1" {
		d.t.Error("the index refreshes by itself")
	}
	d.indexes[name] = &doubleIndex{
		mappings: in["mappings"].(map[string]any), rows: map[string]doubleRow{}, visible: map[string]doubleRow{},
	}
	return object{"acknowledged": true}
}

func (d *double) mapping(pattern string) any {
	out := object{}
	for name, x := range d.indexes {
		if ok, _ := path.Match(pattern, name); ok {
			out[name] = object{"mappings": x.mappings}
		}
	}
	if len(out) == 0 && !strings.Contains(pattern, "*") {
		return noIndex
	}
	return out
}

// extend adds the field of vectors.
func (d *double) extend(x *doubleIndex, body []byte) any {
	maps.Copy(x.mappings["properties"].(map[string]any), d.parse(body)["properties"].(map[string]any))
	return object{"acknowledged": true}
}

func (d *double) row(x *doubleIndex, r *http.Request, id string, body []byte) any {
	now, there := x.rows[id]
	if q := r.URL.Query(); q.Get("if_seq_no") != "" {
		if want, _ := strconv.ParseInt(q.Get("if_seq_no"), 10, 64); !there || now.seq != want {
			return refusal{http.StatusConflict, "version_conflict_engine_exception"}
		}
	} else if q.Get("op_type") == "create" && there {
		return refusal{http.StatusConflict, "version_conflict_engine_exception"}
	}
	switch {
	case r.Method == http.MethodPut:
		d.seq++
		x.rows[id] = doubleRow{d.parse(body), d.seq}
		return object{"_seq_no": d.seq, "_primary_term": 1}
	case !there:
		return refusal{http.StatusNotFound, "not_found"}
	case r.Method == http.MethodDelete:
		delete(x.rows, id)
		return object{"result": "deleted"}
	}
	return object{"found": true, "_source": now.source, "_seq_no": now.seq, "_primary_term": 1}
}

func (d *double) bulk(body []byte) any {
	lines := bytes.Split(bytes.TrimRight(body, "\n"), []byte("\n"))
	var items []any
	failed := false
	for i := 0; i < len(lines); i++ {
		for action, raw := range d.parse(lines[i]) {
			at := raw.(map[string]any)
			x, id := d.indexes[at["_index"].(string)], at["_id"].(string)
			status := http.StatusOK
			switch {
			case x == nil:
				status = http.StatusNotFound
			case action == "delete":
				delete(x.rows, id)
			case action == "index":
				status = d.write(x, id, d.parse(lines[i+1]))
			default: // update
				source := maps.Clone(x.rows[id].source)
				maps.Copy(source, d.parse(lines[i+1])["doc"].(map[string]any))
				status = d.write(x, id, source)
			}
			if action != "delete" {
				i++
			}
			failed = failed || status >= 300
			items = append(items, object{action: object{"_id": id, "status": status, "error": object{}}})
		}
	}
	return object{"errors": failed, "items": items}
}

// write stores a row whose fields the mapping knows.
func (d *double) write(x *doubleIndex, id string, source map[string]any) int {
	for field := range source {
		if _, ok := x.mappings["properties"].(map[string]any)[field]; !ok {
			return http.StatusBadRequest // strict_dynamic_mapping_exception
		}
	}
	d.seq++
	x.rows[id] = doubleRow{source, d.seq}
	return http.StatusOK
}

// matching are the ids of the visible rows that a query lets through, in order.
func (d *double) matching(x *doubleIndex, query any) (out []string) {
	for _, id := range slices.Sorted(maps.Keys(x.visible)) {
		if d.score(x, id, query) >= 0 {
			out = append(out, id)
		}
	}
	return out
}

// score returns the score of a row for a query; a negative number leaves it out.
func (d *double) score(x *doubleIndex, id string, query any) float64 {
	source := x.visible[id].source
	for kind, raw := range query.(map[string]any) {
		switch in := raw.(type) {
		case map[string]any:
			switch kind {
			case "bool":
				return d.boolean(x, id, in)
			case "ids":
				return yes(slices.Contains(in["values"].([]any), any(id)))
			case "term", "terms":
				return d.term(source, kind, in)
			case "knn":
				v := in["vector"].(map[string]any)
				return d.near(x, id, v["vector"], v["filter"])
			case "script_score":
				if d.score(x, id, in["query"]) < 0 {
					return -1
				}
				script := in["script"].(map[string]any)
				return cosine(script["params"].(map[string]any)["v"], source["vector"]) + 1
			}
		}
		d.t.Errorf("unknown query %s", kind)
	}
	return -1
}

func yes(ok bool) float64 {
	if ok {
		return 0
	}
	return -1
}

func (d *double) boolean(x *doubleIndex, id string, in map[string]any) float64 {
	if list, ok := in["filter"].([]any); ok {
		for _, q := range list {
			if d.score(x, id, q) < 0 {
				return -1
			}
		}
	}
	should, ok := in["should"].([]any)
	if !ok {
		return 0
	}
	sum := -1.0
	for _, q := range should {
		if s := d.score(x, id, q); s >= 0 {
			sum = max(0, sum) + 1 + s
		}
	}
	return sum
}

func (d *double) term(source map[string]any, kind string, in map[string]any) float64 {
	for field, want := range in {
		have, ok := source[field].([]any)
		if !ok {
			have = []any{source[field]}
		}
		if text, ok := source["terms"].(string); ok && field == "terms" {
			have = nil
			for word := range strings.FieldsSeq(text) {
				have = append(have, word)
			}
		}
		wanted, ok := want.([]any)
		if m, weighted := want.(map[string]any); weighted {
			want = m["value"]
		}
		if !ok {
			wanted = []any{want}
		}
		n := 0
		for _, v := range have {
			if slices.Contains(wanted, v) {
				n++
			}
		}
		if n == 0 {
			return -1
		}
		return float64(n)
	}
	return -1
}

func (d *double) near(x *doubleIndex, id string, vector, filter any) float64 {
	own, ok := x.visible[id].source["vector"]
	if !ok || d.score(x, id, filter) < 0 {
		return -1
	}
	return (1 + cosine(vector, own)) / 2
}

func cosine(a, b any) float64 {
	x, y := a.([]any), b.([]any)
	var sum, xx, yy float64
	for i := range x {
		p, q := x[i].(float64), y[i].(float64)
		sum, xx, yy = sum+p*q, xx+p*p, yy+q*q
	}
	return sum / math.Sqrt(xx*yy)
}

type doubleHit struct {
	id    string
	score float64
}

func (d *double) search(x *doubleIndex, in map[string]any) any {
	query := in["query"]
	if knn, ok := in["knn"].(map[string]any); ok { // Elasticsearch
		query = object{"knn": object{"vector": object{"vector": knn["query_vector"], "filter": knn["filter"]}}}
		text, err := json.Marshal(query)
		if err != nil {
			d.t.Error(err)
		}
		query = d.parse(text)
	}
	var hits []doubleHit
	for id := range x.visible {
		if s := d.score(x, id, query); s >= 0 {
			hits = append(hits, doubleHit{id, s})
		}
	}
	total := len(hits)
	order, _ := in["sort"].([]any)
	slices.SortFunc(hits, func(a, b doubleHit) int {
		if len(order) > 0 {
			return d.compare(x, order, a.id, b.id)
		}
		if a.score != b.score {
			return int(math.Copysign(1, b.score-a.score))
		}
		return strings.Compare(a.id, b.id)
	})
	if after, ok := in["search_after"].([]any); ok {
		hits = slices.DeleteFunc(hits, func(h doubleHit) bool {
			return fmt.Sprint(d.sortOf(x, order, h.id)) == fmt.Sprint(after) || d.before(x, order, h.id, after)
		})
	}
	hits = hits[:min(len(hits), int(in["size"].(float64)))]
	list := []any{}
	for _, h := range hits {
		list = append(list, object{
			"_id": h.id, "_score": h.score, "sort": d.sortOf(x, order, h.id),
			"_source": d.pick(x.visible[h.id].source, in["_source"]),
		})
	}
	return object{
		"hits":         object{"total": object{"value": total}, "hits": list},
		"aggregations": d.aggregate(x, in["aggs"], query),
	}
}

func (d *double) sortOf(x *doubleIndex, order []any, id string) []any {
	out := []any{}
	for _, o := range order {
		for field := range o.(map[string]any) {
			out = append(out, x.visible[id].source[field])
		}
	}
	return out
}

func compareValues(a, b any) int {
	if x, ok := a.(float64); ok {
		return int(x - b.(float64))
	}
	return strings.Compare(a.(string), b.(string))
}

func (d *double) before(x *doubleIndex, order []any, id string, after []any) bool {
	for i, v := range d.sortOf(x, order, id) {
		if c := compareValues(v, after[i]); c != 0 {
			return c < 0
		}
	}
	return false
}

func (d *double) compare(x *doubleIndex, order []any, a, b string) int {
	left, right := d.sortOf(x, order, a), d.sortOf(x, order, b)
	for i, o := range order {
		for _, direction := range o.(map[string]any) {
			c := compareValues(left[i], right[i])
			if direction == "desc" {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
	}
	return 0
}

// pick returns the requested part of a source.
func (d *double) pick(source map[string]any, want any) any {
	switch want := want.(type) {
	case bool:
		if !want {
			return nil
		}
	case map[string]any:
		out := maps.Clone(source)
		for _, field := range want["excludes"].([]any) {
			delete(out, field.(string))
		}
		return out
	case []any:
		out := map[string]any{}
		for _, field := range want {
			outer, inner, nested := strings.Cut(field.(string), ".")
			if !nested {
				out[outer] = source[outer]
				continue
			}
			if v, ok := source[outer].(map[string]any)[inner]; ok {
				if out[outer] == nil {
					out[outer] = map[string]any{}
				}
				out[outer].(map[string]any)[inner] = v
			}
		}
		return out
	}
	return source
}

func (d *double) aggregate(x *doubleIndex, aggs, query any) any {
	list, ok := aggs.(map[string]any)
	if !ok {
		return nil
	}
	if all, ok := list["all"].(map[string]any); ok {
		inner := all["aggs"].(map[string]any)["holding"].(map[string]any)["filters"].(map[string]any)
		buckets := object{}
		for name, q := range inner["filters"].(map[string]any) {
			buckets[name] = object{"doc_count": len(d.matching(x, q))}
		}
		return object{"all": object{"doc_count": len(x.visible), "holding": object{"buckets": buckets}}}
	}
	var sum float64
	for _, id := range d.matching(x, query) {
		length, _ := x.visible[id].source["length"].(float64)
		sum += length
	}
	return object{"words": object{"value": sum}}
}
