package eval

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is the result of an evaluation.
type Report struct {
	Run
	Compared    *Run         `json:"compared,omitempty"`
	Differences []Difference `json:"differences,omitempty"`
	depths      []int
}

// NewReport makes a report of a run, and of another to compare it with unless that is nil.
func NewReport(e *Evaluation, run, compared *Run) *Report {
	r := &Report{Run: *run, Compared: compared, depths: e.Depths}
	if compared != nil {
		r.Differences = Differences(run, compared)
	}
	return r
}

// shownDifferences bounds the largest losses and the largest gains in a table, each.
const shownDifferences = 10

// WriteTable writes a report for people. Without a comparison it lists the queries that did worst.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, "settings\tnDCG@10\tMRR")
	for _, k := range r.depths {
		fmt.Fprintf(t, "\trecall@%d", k)
	}
	fmt.Fprintln(t, "\tsearch p50\tp99")
	r.row(t, &r.Run)
	if r.Compared != nil {
		r.row(t, r.Compared)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d documents, %d chunks, indexed in %v; %d queries with a relevant document\n\n",
		r.Documents, r.Chunks, r.Indexing.Round(time.Millisecond), r.Judged)
	if r.Compared != nil {
		r.differences(t)
	} else {
		r.worst(t)
	}
	return t.Flush()
}

func (r *Report) row(t io.Writer, run *Run) {
	fmt.Fprintf(t, "%s\t%.4f\t%.4f", run.Settings, run.Mean.NDCG, run.Mean.MRR)
	for _, k := range r.depths {
		fmt.Fprintf(t, "\t%.4f", run.Mean.Recall[k])
	}
	fmt.Fprintf(t, "\t%v\t%v\n", run.Median.Round(10*time.Microsecond), run.P99.Round(10*time.Microsecond))
}

// String returns the settings in the form that Set reads, as far as the mode uses them.
func (s Settings) String() string {
	parts := []string{"mode=" + string(s.Mode), "chunk=" + s.Chunk}
	if s.Mode != Vectors {
		parts = append(parts, "stemmer="+s.Index.Stemmer,
			fmt.Sprintf("k1=%v,b=%v", max(0, s.Index.K1), max(0, s.Index.B)))
	}
	if s.Mode == Hybrid {
		parts = append(parts, "fusion="+string(s.Fusion), fmt.Sprintf("vector_weight=%v", s.VectorWeight))
	}
	return strings.Join(parts, ",")
}

func (r *Report) differences(t io.Writer) {
	worse := 0
	for _, d := range r.Differences {
		if d.Change < 0 {
			worse++
		}
	}
	better := len(r.Differences) - worse
	fmt.Fprintf(t, "nDCG@10 of the second against the first: %d queries better, %d worse, %d equal\n",
		better, worse, r.Judged-better-worse)
	fmt.Fprintln(t, "query\tfirst\tsecond\tchange")
	for i, d := range r.Differences {
		if i < shownDifferences || i >= len(r.Differences)-shownDifferences {
			fmt.Fprintf(t, "%s\t%.4f\t%.4f\t%+.4f\n", d.ID, d.Before, d.After, d.Change)
		}
	}
}

// worst lists the queries with the lowest gain.
func (r *Report) worst(t io.Writer) {
	ordered := slices.SortedStableFunc(slices.Values(r.Queries), func(a, b QueryRun) int {
		return cmp.Compare(a.NDCG, b.NDCG)
	})
	missed := 0
	for missed < len(ordered) && ordered[missed].NDCG == 0 {
		missed++
	}
	fmt.Fprintf(t, "%d queries found nothing relevant among the first %d\n", missed, ndcgDepth)
	fmt.Fprintln(t, "query\tnDCG@10")
	for _, q := range ordered[:min(len(ordered), shownDifferences)] {
		fmt.Fprintf(t, "%s\t%.4f\n", q.ID, q.NDCG)
	}
}

// WriteJSON writes a report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(r)
}

// WriteRun writes the results: lines of query, document and score, best first for each query.
func (r *Report) WriteRun(w io.Writer, queries []Query) error {
	b := bufio.NewWriter(w)
	for _, q := range queries {
		for _, f := range r.found[q.ID] {
			fmt.Fprintf(b, "%s %s %g\n", q.ID, f.Document, f.Score)
		}
	}
	return b.Flush()
}
