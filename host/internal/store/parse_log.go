package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// ParseLogs has the records of how parses of documents ended.
type ParseLogs struct{ *database }

// Bounds of parse logs.
const (
	// keptLogs bounds the logs of a dataset.
	keptLogs = 1000
	// LargestPipeline bounds a pipeline with the outputs of its nodes, in bytes before compression.
	LargestPipeline = 16 << 20
)

// parseLogBody is the part of a log that no query reads.
type parseLogBody struct {
	Name     string  `json:"name"`
	Source   string  `json:"source,omitempty"`
	Method   string  `json:"method,omitempty"`
	Pipeline string  `json:"pipeline,omitempty"`
	Title    string  `json:"title,omitempty"`
	Node     string  `json:"node,omitempty"`
	Progress float64 `json:"progress"`
	Messages string  `json:"messages,omitempty"`
	Chunks   int     `json:"chunks"`
	Began    int64   `json:"began,omitempty"`
	Duration int64   `json:"duration,omitempty"`
}

const parseLogColumns = `id, dataset_id, document_id, kind, state, body, canvas, create_time`

var parseLogList = listing[dataset.ParseLog]{
	table: "parse_logs", columns: parseLogColumns, scan: scanParseLog, large: []string{"canvas"},
	order: map[string]string{"create_time": "create_time"},
}

func scanParseLog(r row) (dataset.ParseLog, error) {
	var v dataset.ParseLog
	var body, canvas []byte
	if err := r.Scan(&v.ID, &v.Dataset, &v.Document, &v.Kind, &v.State, &body, &canvas, &v.Created); err != nil {
		return v, err
	}
	var b parseLogBody
	err := json.Unmarshal(body, &b)
	if err == nil {
		v.Canvas, err = unzipped(canvas)
	}
	if err != nil {
		return v, fmt.Errorf("parse log %q: %w: %w", v.ID, ErrCorrupt, err)
	}
	v.Name, v.Source, v.Method, v.Pipeline, v.Title, v.Node = b.Name, b.Source, b.Method, b.Pipeline, b.Title, b.Node
	v.Progress, v.Messages, v.Chunks, v.Began, v.Duration = b.Progress, b.Messages, b.Chunks, b.Began, b.Duration
	return v, nil
}

// zipped compresses a document; one that is empty or too large becomes empty.
func zipped(doc []byte) ([]byte, error) {
	if len(doc) == 0 || len(doc) > LargestPipeline {
		return []byte{}, nil
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(doc); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

func unzipped(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, LargestPipeline))
}

// ParseLogFilter selects logs; empty fields match all.
type ParseLogFilter struct {
	Tenant, Dataset string // required
	Document        string
	Words           string // substring of the document's name, whatever the case of letters
	States          []dataset.State
	Suffixes, Kinds []string
	From, To        int64 // create_time, Unix milliseconds, inclusive
	// Gate leaves out documents that it does not open, and deleted ones; nil leaves out none.
	Gate *access.Gate
}

// List returns a page of logs without their canvases, and the number of all matching ones.
func (s ParseLogs) List(ctx context.Context, f ParseLogFilter, p Page) ([]dataset.ParseLog, int, error) {
	if f.Tenant == "" || f.Dataset == "" {
		return nil, 0, fail(ErrInvalid, "list parse logs: no tenant or no dataset")
	}
	w := &where{changing: true}
	w.equal("tenant_id", f.Tenant)
	w.equal("dataset_id", f.Dataset)
	w.equal("document_id", f.Document)
	if f.Gate != nil {
		of := &where{args: w.args}
		of.add("d.id = document_id")
		of.opened(f.Gate, "d.access")
		w.args = of.args
		w.add("EXISTS (SELECT 1 FROM documents d" + of.String() + ")")
	}
	w.contains("name_key", f.Words)
	w.in("state", texts(f.States))
	w.in("suffix", f.Suffixes)
	w.in("kind", f.Kinds)
	w.between("create_time", f.From, f.To)
	p.Documents = NoDocuments
	return list(ctx, s.database, &parseLogList, w, p)
}

// Get returns a log of a tenant. Errors: [ErrNotFound].
func (s ParseLogs) Get(ctx context.Context, tenant, id string) (dataset.ParseLog, error) {
	const query = `SELECT ` + parseLogColumns + ` FROM parse_logs WHERE id = $1 AND tenant_id = $2`
	v, err := scanParseLog(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "parse log %q", id)
}

// addParseLog records how a parse of a document ended. The pipeline of its earlier parses and the
// oldest logs of the dataset are removed, and so is the rerun that it was.
func addParseLog(ctx context.Context, q querier, v *Document, ran dataset.Ran, now time.Time) error {
	rerun, err := queryAll(ctx, q, scanName, `SELECT node FROM parse_reruns WHERE document_id = $1`, v.ID)
	if err != nil {
		return err
	}
	b := parseLogBody{
		Name: v.Name, Source: v.Source, Method: v.Method, Pipeline: v.Pipeline, Title: ran.Title,
		Progress: v.Progress, Messages: v.Messages, Chunks: v.Chunks, Began: v.Began, Duration: v.Duration,
	}
	if len(rerun) > 0 {
		b.Node = rerun[0]
	}
	body, err := json.Marshal(b)
	if err != nil {
		return err
	}
	canvas, err := zipped(ran.Canvas)
	if err != nil {
		return err
	}
	const (
		forget = `UPDATE parse_logs SET canvas = $1 WHERE document_id = $2`
		insert = `INSERT INTO parse_logs (id, tenant_id, dataset_id, document_id, name_key, suffix, kind, state, body,
			canvas, create_time) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
		prune = `DELETE FROM parse_logs WHERE dataset_id = $1 AND (create_time, id) <= (SELECT create_time, id
			FROM parse_logs WHERE dataset_id = $1 ORDER BY create_time DESC, id DESC LIMIT 1 OFFSET $2)`
	)
	if len(canvas) > 0 || v.State == dataset.Done {
		if _, err := q.ExecContext(ctx, forget, []byte{}, v.ID); err != nil {
			return err
		}
	}
	_, err = q.ExecContext(ctx, insert, NewID(), v.Tenant, v.Dataset, v.ID, fold(v.Name), suffixOf(v.Name), v.Kind,
		string(v.State), body, canvas, now.UnixMilli())
	if err != nil {
		return err
	}
	if _, err := q.ExecContext(ctx, prune, v.Dataset, keptLogs); err != nil {
		return err
	}
	return dropRerun(ctx, q, v.ID)
}

// dropRerun makes the next parse of a document one from the beginning.
func dropRerun(ctx context.Context, q querier, id string) error {
	_, err := q.ExecContext(ctx, `DELETE FROM parse_reruns WHERE document_id = $1`, id)
	return err
}

// dropParses removes what is recorded about the parses of documents.
func dropParses(ctx context.Context, q querier, column, id string) error {
	for _, table := range []string{"parse_logs", "parse_reruns"} {
		if _, err := q.ExecContext(ctx, `DELETE FROM `+table+` WHERE `+column+` = $1`, id); err != nil {
			return err
		}
	}
	return nil
}

// Rerun queues a document whose pipeline starts at a node. Errors: [ErrNotFound], [ErrConflict] if
// it is queued or running, [ErrInvalid] if the canvas is too large.
func (s Ingestion) Rerun(ctx context.Context, tenant, datasetID, id string, r dataset.Rerun) error {
	if len(r.Canvas) > LargestPipeline {
		return fail(ErrInvalid, "rerun document %q: the canvas has %d bytes, at most %d are allowed", id,
			len(r.Canvas), LargestPipeline)
	}
	canvas, err := zipped(r.Canvas)
	if err != nil {
		return fail(err, "rerun document %q", id)
	}
	return s.write(ctx, fmt.Sprintf("rerun document %q", id), func(ctx context.Context, q querier) error {
		if err := s.queue(ctx, q, tenant, datasetID, id); err != nil {
			return err
		}
		const insert = `INSERT INTO parse_reruns (document_id, tenant_id, dataset_id, node, canvas, user_id)
			VALUES ($1, $2, $3, $4, $5, $6)`
		if _, err := q.ExecContext(ctx, insert, id, tenant, datasetID, r.Node, canvas, r.By); err != nil {
			return err
		}
		return noteChanges(ctx, q, tenant, datasetID, id)
	})
}

// RerunOf returns where the pipeline of a document starts; nil if it starts at the beginning.
func (s Ingestion) RerunOf(ctx context.Context, id string) (*dataset.Rerun, error) {
	found, err := queryAll(ctx, s.read, func(r row) (dataset.Rerun, error) {
		var v dataset.Rerun
		var canvas []byte
		err := r.Scan(&v.Node, &canvas, &v.By)
		if err == nil {
			v.Canvas, err = unzipped(canvas)
		}
		return v, err
	}, `SELECT node, canvas, user_id FROM parse_reruns WHERE document_id = $1`, id)
	if err != nil || len(found) == 0 {
		return nil, fail(err, "rerun of document %q", id)
	}
	return &found[0], nil
}
