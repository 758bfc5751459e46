// Package eval measures how well documents are found: it puts a corpus into a temporary index, runs
// the queries, and compares the results with judgements of relevance.
package eval

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
)

// Document is a line of a corpus.
type Document struct{ ID, Title, Text string }

// Query is a line of queries.
type Query struct{ ID, Text string }

// Judgements say how relevant documents are for queries: query, document, grade. Documents without
// a grade have 0.
type Judgements map[string]map[string]int

// largestLine bounds the length of a line, in bytes.
const largestLine = 64 << 20

// LineError is a line of a file that cannot be used.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s, line %d: %v", e.File, e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// lines yields the lines of a file, plain or gzipped, with their numbers. Blank ones are left out.
// An error ends it.
func lines(file string) iter.Seq2[numbered, error] {
	return func(yield func(numbered, error) bool) {
		f, err := os.Open(file)
		if err != nil {
			yield(numbered{}, err)
			return
		}
		defer f.Close() // it was only read
		in, err := plain(f)
		if err != nil {
			yield(numbered{}, fmt.Errorf("%s: %w", file, err))
			return
		}
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, largestLine)
		n := 0
		for scan.Scan() {
			n++
			line := bytes.TrimSpace(bytes.TrimPrefix(scan.Bytes(), []byte("\xEF\xBB\xBF")))
			if len(line) > 0 && !yield(numbered{n, line}, nil) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = fmt.Errorf("it has more than %d bytes", largestLine)
			}
			yield(numbered{}, &LineError{file, n + 1, err})
		}
	}
}

type numbered struct {
	number int
	text   []byte
}

// plain returns the content of a file that may be gzipped.
func plain(f io.Reader) (io.Reader, error) {
	in := bufio.NewReader(f)
	magic, err := in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1F, 0x8B}) {
		return in, nil
	}
	return gzip.NewReader(in)
}

// object is a line of a corpus or of queries. Collections in the form of BEIR say _id.
type object struct {
	ID    *id    `json:"id"`
	Other *id    `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// id is a string, or a number as it is written.
type id string

func (i *id) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*i = id(text)
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return fmt.Errorf("id %s is neither a string nor a number", data)
	}
	*i = id(number)
	return nil
}

// objects yields the lines of a file of JSON objects with their ids, each of which occurs once.
func objects(file string) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		seen := map[id]int{}
		for line, err := range lines(file) {
			var o object
			if err == nil {
				o, err = readObject(line, seen)
				if err != nil {
					err = &LineError{file, line.number, err}
				}
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

func readObject(line numbered, seen map[id]int) (o object, err error) {
	if err := json.Unmarshal(line.text, &o); err != nil {
		return o, fmt.Errorf("not a JSON object with id and text: %w", err)
	}
	if o.ID == nil {
		o.ID = o.Other
	}
	if o.ID == nil || *o.ID == "" {
		return o, errors.New(`no "id"`)
	}
	if first := seen[*o.ID]; first > 0 {
		return o, fmt.Errorf("id %q is that of line %d", *o.ID, first)
	}
	seen[*o.ID] = line.number
	return o, nil
}

// ReadCorpus yields the documents of a file of lines {"id", "title", "text"}. An error ends it.
func ReadCorpus(file string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for o, err := range objects(file) {
			if err != nil {
				yield(Document{}, err)
				return
			}
			if !yield(Document{string(*o.ID), o.Title, o.Text}, nil) {
				return
			}
		}
	}
}

// ReadQueries reads a file of lines {"id", "text"}.
func ReadQueries(file string) (out []Query, err error) {
	for o, err := range objects(file) {
		if err != nil {
			return nil, err
		}
		out = append(out, Query{string(*o.ID), o.Text})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: it has no queries", file)
	}
	return out, nil
}

// ReadJudgements reads a file of lines query, document and grade, with tabs between them. The first
// line may be a heading.
func ReadJudgements(file string) (Judgements, error) {
	out := Judgements{}
	for line, err := range lines(file) {
		if err != nil {
			return nil, err
		}
		fields := strings.Split(string(line.text), "\t")
		if len(fields) != 3 {
			return nil, &LineError{
				file, line.number,
				fmt.Errorf("%d fields between tabs, want query, document and grade", len(fields)),
			}
		}
		query, document := fields[0], fields[1]
		grade, err := strconv.Atoi(strings.TrimSpace(fields[2]))
		if err != nil {
			if line.number == 1 {
				continue
			}
			return nil, &LineError{file, line.number, fmt.Errorf("grade %q is not a whole number", fields[2])}
		}
		if out[query] == nil {
			out[query] = map[string]int{}
		}
		if _, twice := out[query][document]; twice {
			return nil, &LineError{
				file, line.number,
				fmt.Errorf("document %q is judged twice for query %q", document, query),
			}
		}
		out[query][document] = grade
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: it has no judgements", file)
	}
	return out, nil
}
