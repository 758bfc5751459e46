package engine

import (
	"maps"
	"strconv"
	"strings"
)

// Reference holds the chunks of one run by citation number, and document aggregates by name.
type Reference struct {
	chunks bucket
	aggs   bucket
	// sources maps citation numbers to the node that added the chunk; it is not part of the
	// document.
	sources map[string]string
}

// buckets is the number of citation numbers in one run.
const buckets = 500

// readReference accepts the object form and tolerates lists for empty objects.
func readReference(v Value) Reference {
	return Reference{chunks: newBucket(v.Get("chunks")), aggs: newBucket(v.Get("doc_aggs"))}
}

func (r *Reference) size() int64 { return r.chunks.bytes + r.aggs.bytes }

func (r *Reference) value() Value {
	return Object("chunks", r.chunks.value(), "doc_aggs", r.aggs.value())
}

// CitationNumber returns the number of a chunk id if it is free: sha1(id) mod 500.
func CitationNumber(id string) int {
	n := 0
	for _, b := range sha1Sum(id) {
		n = (n*256 + int(b)) % buckets
	}
	return n
}

// ChunkID returns the id of a chunk that came without one, such as a result of a web search:
// sha1(content) mod 100,000,000.
func ChunkID(content string) string {
	n := 0
	for _, b := range sha1Sum(content) {
		n = (n*256 + int(b)) % 100_000_000
	}
	return strconv.Itoa(n)
}

// add keeps chunks and aggregates. The same chunk id again keeps the first; another id whose number
// is taken gets the next free one.
func (r *Reference) add(node string, chunks, aggs []Value) {
	for _, c := range chunks {
		c = formatChunk(c)
		id := c.Get("id").Text()
		n := CitationNumber(id)
		for try := 0; try < buckets; try++ {
			key := strconv.Itoa((n + try) % buckets)
			old, taken := r.chunks.get(key)
			if taken && old.Get("id").Text() != id {
				continue
			}
			if !taken {
				r.chunks.set(key, c)
				if r.sources == nil {
					r.sources = map[string]string{}
				}
				r.sources[key] = node
			}
			break
		}
	}
	for _, a := range aggs {
		if name := a.Get("doc_name").Text(); name != "" {
			r.aggs.set(name, a)
		}
	}
}

func (r *Reference) clone() Reference {
	c := Reference{}
	c.chunks, c.aggs = r.chunks.clone(), r.aggs.clone()
	c.sources = maps.Clone(r.sources)
	return c
}

// chunkFields maps each field of a reference to its names in the results of retrievers; the first
// present wins.
var chunkFields = [...]struct {
	name string
	from []string
}{
	{"id", []string{"chunk_id", "id"}},
	{"content", []string{"content", "content_with_weight"}},
	{"document_id", []string{"doc_id", "document_id"}},
	{"document_name", []string{"docnm_kwd", "document_name"}},
	{"dataset_id", []string{"kb_id", "dataset_id"}},
	{"image_id", []string{"image_id", "img_id"}},
	{"positions", []string{"positions", "position_int"}},
	{"url", []string{"url"}},
	{"similarity", []string{"similarity"}},
	{"vector_similarity", []string{"vector_similarity"}},
	{"term_similarity", []string{"term_similarity"}},
	{"doc_type", []string{"doc_type_kwd", "doc_type"}},
}

func formatChunk(c Value) Value {
	b := NewObject(len(chunkFields))
	for _, f := range chunkFields {
		v := Null
		for _, from := range f.from {
			if x, ok := c.Lookup(from); ok {
				v = x
				break
			}
		}
		b.Set(f.name, v)
	}
	return b.Value()
}

// hasCitation reports whether a text holds a mark like [ID:12].
func hasCitation(text string) bool {
	for {
		i := strings.Index(text, "[ID:")
		if i < 0 {
			return false
		}
		text = text[i+4:]
		n := 0
		for n < len(text) && (text[n] == ' ' || text[n] >= '0' && text[n] <= '9') {
			n++
		}
		if n > 0 && n < len(text) && text[n] == ']' {
			return true
		}
	}
}

// CitedBy returns the id of the node that found a passage of the last run, by its citation number;
// "" if unknown, or if the state was read from a document, which does not hold it.
func (s *State) CitedBy(number int) string {
	if n := len(s.retrieval); n > 0 {
		return s.retrieval[n-1].sources[strconv.Itoa(number)]
	}
	return ""
}
