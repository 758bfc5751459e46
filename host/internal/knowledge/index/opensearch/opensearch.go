// Package opensearch keeps an index in OpenSearch or Elasticsearch, which any number of hosts
// share.
//
// Each dataset is an index of the server, with a row for each document and each chunk. Terms are
// made here and not by the server, so that every adapter finds the same; a term is stored as its
// hash. The server chooses the candidates by its own BM25, and they are scored again here from the
// counts of their terms, because the server's numbers include chunks that were deleted. Vectors are
// chosen by the server's approximate search and compared exactly by a script.
//
// The server refreshes nothing by itself: the changes of a write become visible by one refresh at
// its end, so that searches see all or nothing of it. An interrupted write is named in the state of
// the dataset, and the next one removes its documents; [index.Index.Versions] then lacks them, and
// they are written again.
//
// Writes to one dataset must not run at the same time on two hosts: [Index.Lock].
package opensearch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// Index is an open server. It implements [index.Index] and [index.Shared].
type Index struct {
	client client
	prefix string
	about  string
	// elastic is Elasticsearch, whose vectors are written in another way.
	elastic bool

	mu     sync.Mutex
	writes map[string]*sync.Mutex // one write at a time, by the name of an index
}

var (
	_ index.Index  = (*Index)(nil)
	_ index.Shared = (*Index)(nil)
)

// Config is the server and name of an index.
type Config struct {
	// URL is the address of the server, with user and password if it requires them. Its path is the
	// prefix of the names of all indexes, "easel" if empty; each installation needs a separate one.
	URL string
	// Client sends the requests; nil means http.DefaultClient.
	Client *http.Client
}

// Open connects to a server.
func Open(ctx context.Context, cfg Config) (*Index, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" {
		return nil, errors.New("index in OpenSearch: address is not a URL") // which may have a password
	}
	prefix := strings.ToLower(cmp.Or(strings.Trim(u.Path, "/"), "easel"))
	if strings.ContainsAny(prefix, `/\*?"<>| ,#:`) || strings.HasPrefix(prefix, "_") || strings.HasPrefix(prefix, "-") {
		return nil, fmt.Errorf("index in OpenSearch: prefix %q: letters, digits and - are accepted", prefix)
	}
	x := &Index{client: newClient(u, cfg.Client), prefix: prefix, writes: map[string]*sync.Mutex{}}
	var info struct {
		Version struct{ Number, Distribution string }
	}
	if err := x.client.do(ctx, http.MethodGet, "/", nil, &info); err != nil {
		return nil, fmt.Errorf("index in OpenSearch: %w", err)
	}
	x.elastic = info.Version.Distribution != "opensearch"
	name := "OpenSearch"
	if x.elastic {
		name = "Elasticsearch"
	}
	x.about = name + " " + info.Version.Number
	return x, nil
}

// Close implements [index.Index].
func (x *Index) Close() error { return nil }

// String names the server and its version.
func (x *Index) String() string { return x.about }

// name returns the name of a dataset's index.
func (x *Index) name(key string) string {
	sum := sha256.Sum256([]byte(key))
	return x.prefix + "-d-" + hex.EncodeToString(sum[:12])
}

// all matches the names of the indexes of all datasets.
func (x *Index) all() string { return x.prefix + "-d-*" }

type object = map[string]any

// meta describes a dataset in the mapping of its index.
type meta struct {
	Key      string         `json:"key"`
	Settings index.Settings `json:"settings"`
}

// mapping describes the rows of a dataset. counts and body are stored and not searched.
func (x *Index) mapping(m meta) object {
	keyword, long := object{"type": "keyword"}, object{"type": "long"}
	return object{
		"dynamic": "strict",
		"_meta":   m,
		"properties": object{
			"kind": keyword, "document": keyword, "chunk": keyword, "rev": keyword, "keys": keyword,
			"n": long, "length": long, "version": long,
			"enabled": object{"type": "boolean"}, "embedded": object{"type": "boolean"},
			"terms":  object{"type": "text", "analyzer": "whitespace", "similarity": "chunks"},
			"counts": object{"type": "object", "enabled": false},
			"body":   object{"type": "object", "enabled": false},
		},
	}
}

// Create implements [index.Index].
func (x *Index) Create(ctx context.Context, key string, s index.Settings) error {
	s = s.Normal()
	if _, err := terms.New(s.Settings); err != nil {
		return fmt.Errorf("dataset %q: %w", key, err)
	}
	defer x.writing(x.name(key))()
	d, err := x.open(ctx, key)
	switch {
	case errors.Is(err, index.ErrNoDataset):
		return index.DatasetError(key, x.create(ctx, key, s))
	case err != nil || d.settings == s:
		return index.DatasetError(key, err)
	}
	st, err := x.state(ctx, d)
	if err != nil {
		return index.DatasetError(key, err)
	}
	if st.Chunks > 0 {
		return index.DatasetError(key, fmt.Errorf("it has %d chunks under other settings; drop it first", st.Chunks))
	}
	if err := x.client.do(ctx, http.MethodDelete, "/"+d.index, nil, nil); err != nil {
		return index.DatasetError(key, err)
	}
	return index.DatasetError(key, x.create(ctx, key, s))
}

// create makes the index of a dataset.
func (x *Index) create(ctx context.Context, key string, s index.Settings) error {
	settings := object{
		"refresh_interval": "-1", "max_result_window": index.MostCandidates, "max_terms_count": 1_000_000,
		"similarity": object{"chunks": object{"type": "BM25", "k1": max(0, s.K1), "b": max(0, s.B)}},
	}
	if !x.elastic {
		settings["knn"] = true
	}
	err := x.client.do(ctx, http.MethodPut, "/"+x.name(key), object{
		"settings": object{"index": settings}, "mappings": x.mapping(meta{key, s}),
	}, nil)
	if isStatus(err, http.StatusBadRequest) && strings.Contains(err.Error(), "resource_already_exists") {
		return nil // by another host
	}
	return err
}

// Drop implements [index.Index].
func (x *Index) Drop(ctx context.Context, key string) error {
	defer x.writing(x.name(key))()
	err := x.client.do(ctx, http.MethodDelete, "/"+x.name(key), nil, nil)
	if isStatus(err, http.StatusNotFound) {
		return nil
	}
	return index.DatasetError(key, err)
}

// Datasets implements [index.Index].
func (x *Index) Datasets(ctx context.Context) ([]string, error) {
	list, err := x.mappings(ctx, x.all())
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	var keys []string
	for _, m := range list {
		keys = append(keys, m.Key)
	}
	return keys, nil
}

func (x *Index) mappings(ctx context.Context, name string) (map[string]meta, error) {
	var answer map[string]struct {
		Mappings struct {
			Meta meta `json:"_meta"`
		}
	}
	if err := x.client.do(ctx, http.MethodGet, "/"+name+"/_mapping", nil, &answer); err != nil {
		return nil, err
	}
	out := map[string]meta{}
	for name, a := range answer {
		out[name] = a.Mappings.Meta
	}
	return out, nil
}

// dataset is one that exists.
type dataset struct {
	key, index string
	settings   index.Settings
}

// open finds a dataset.
func (x *Index) open(ctx context.Context, key string) (*dataset, error) {
	name := x.name(key)
	list, err := x.mappings(ctx, name)
	if isStatus(err, http.StatusNotFound) {
		return nil, index.ErrNoDataset
	}
	if err != nil {
		return nil, err
	}
	return &dataset{key, name, list[name].Settings}, nil
}

// writing waits for the other writes of this process to an index.
func (x *Index) writing(name string) (done func()) {
	x.mu.Lock()
	m := x.writes[name]
	if m == nil {
		m = &sync.Mutex{}
		x.writes[name] = m
	}
	x.mu.Unlock()
	m.Lock()
	return m.Unlock
}

// state describes a dataset as a whole. It is read by id, so that changes are visible without a
// refresh.
type state struct {
	Kind   string `json:"kind"`
	Values values `json:"body"`
}

type values struct {
	Chunks int64 `json:"chunks"`
	Words  int64 `json:"words"`
	Dims   int   `json:"dims"`
	// Writing are the documents of a write that has begun and not ended.
	Writing []string `json:"writing,omitempty"`
}

const stateRow = "state"

func (x *Index) state(ctx context.Context, d *dataset) (values, error) {
	s := state{}
	_, err := x.row(ctx, d, stateRow, &s)
	return s.Values, err
}

func (x *Index) setState(ctx context.Context, d *dataset, v values) error {
	return x.client.do(ctx, http.MethodPut, "/"+d.index+"/_doc/"+stateRow, state{stateRow, v}, nil)
}

// row reads a row by its id, without a refresh; ok is false if missing.
func (x *Index) row(ctx context.Context, d *dataset, id string, into any) (ok bool, err error) {
	var answer struct {
		Found  bool
		Source json.RawMessage `json:"_source"`
	}
	err = x.client.do(ctx, http.MethodGet, "/"+d.index+"/_doc/"+url.PathEscape(id), nil, &answer)
	if isStatus(err, http.StatusNotFound) && !strings.Contains(err.Error(), "index_not_found") {
		return false, nil
	}
	if isStatus(err, http.StatusNotFound) {
		return false, index.ErrNoDataset
	}
	if err != nil || !answer.Found {
		return false, err
	}
	return true, json.Unmarshal(answer.Source, into)
}
