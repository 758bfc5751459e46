package folder

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// patience bounds every wait; what is waited for takes a small part of it on a slow machine.
const patience = 2 * time.Minute

var quiet = slog.New(slog.DiscardHandler)

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// files writes a folder: name, text, name, text ...
func files(t testing.TB, list ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(list); i += 2 {
		write(t, dir, list[i], list[i+1])
	}
	return dir
}

func open(t testing.TB, cfg Config) *Folder {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = quiet
	}
	if cfg.Wait == 0 {
		cfg.Wait = patience
	}
	if cfg.Cutter == nil {
		reader := &document.Reader{}
		cfg.Cutter = ingest.DocumentCutter{Reader: reader}
		t.Cleanup(func() { require.NoError(t, reader.Close()) })
	}
	f, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	return f
}

// opened is open for the time of a test.
func opened(t testing.TB, cfg Config) *Folder {
	t.Helper()
	f := open(t, cfg)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// ask returns the hits as "document: first line".
func ask(t testing.TB, f *Folder, query string, datasets ...string) []string {
	t.Helper()
	q := &engine.RetrievalQuery{Text: query, Datasets: datasets, TopN: 5}
	found, err := f.Retriever("").Retrieve(t.Context(), q)
	require.NoError(t, err)
	return shown(found)
}

func shown(found engine.Found) []string {
	var out []string
	for _, c := range found.Chunks {
		line, _, _ := strings.Cut(c.Get("content_with_weight").Str(), "\n")
		out = append(out, c.Get("docnm_kwd").Str()+": "+line)
	}
	return out
}

// document finds a document by its name.
func (f *Folder) document(t testing.TB, set, name string) (d dataset.Document) {
	t.Helper()
	for _, v := range f.Documents("", idOf(set)) {
		if v.Name == name {
			return v
		}
	}
	return d
}

// becomes waits until a search of the dataset a finds documents.
func becomes(t testing.TB, f *Folder, query string, want ...string) {
	t.Helper()
	var got []string
	require.Eventually(t, func() bool {
		got = ask(t, f, query, "a")
		return fmt.Sprint(got) == fmt.Sprint(want)
	}, patience, 5*time.Millisecond, "%v", &got)
}

// The datasets follow the folder while it is open, and while it was not.
func TestFolderIsFollowed(t *testing.T) {
	root, dir := files(t, "a/1.txt", "first", "a/2.txt", "second"), t.TempDir()
	cfg := Config{Root: root, Dir: dir, Poll: time.Millisecond}
	f := open(t, cfg)
	becomes(t, f, "first", "1.txt: first")
	id := f.document(t, "a", "1.txt").ID
	write(t, root, "a/1.txt", "changed words")
	becomes(t, f, "words", "1.txt: changed words")
	becomes(t, f, "first")
	require.Equal(t, id, f.document(t, "a", "1.txt").ID)
	require.NoError(t, os.Remove(filepath.Join(root, "a", "2.txt")))
	becomes(t, f, "second")
	write(t, root, "a/1.txt.meta.json", `{"k": "v"}`)
	require.Eventually(t, func() bool {
		return f.document(t, "a", "1.txt").Meta["k"] == "v"
	}, patience, 5*time.Millisecond)
	write(t, root, "b/1.txt", "other")
	require.Eventually(t, func() bool { return len(f.Datasets("")) == 2 }, patience, 5*time.Millisecond)
	require.NoError(t, os.RemoveAll(filepath.Join(root, "b")))
	require.Eventually(t, func() bool { return len(f.Datasets("")) == 1 }, patience, 5*time.Millisecond)
	require.NoError(t, f.Close())

	write(t, root, "a/3.txt", "third")
	require.NoError(t, os.Remove(filepath.Join(root, "a", "1.txt")))
	f = open(t, cfg)
	becomes(t, f, "third", "3.txt: third")
	becomes(t, f, "words")
	require.NoError(t, f.Close())

	for _, name := range []string{indexFile, recordsFile} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("no database ", 500)), 0o600))
		f = open(t, cfg)
		becomes(t, f, "third", "3.txt: third")
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.Remove(filepath.Join(dir, indexFile)))
	f = open(t, cfg)
	becomes(t, f, "third", "3.txt: third")
	require.NoError(t, f.Close())
}

// Documents are listed with their states and numbers, after a start at once.
func TestDocumentsHaveStates(t *testing.T) {
	root := files(t, "a/good.md", "# One\n\nSome words.", "a/bad.json", `{"apple": `, "a/x.bin", "apple")
	cfg := Config{Root: root, Dir: t.TempDir(), Poll: -1}
	f := open(t, cfg)
	require.NoError(t, f.Await(t.Context()))
	check := func(f *Folder) {
		list := f.Documents("", idOf("a"))
		require.Len(t, list, 2)
		bad, good := list[0], list[1]
		require.Equal(t, []any{dataset.Failed, -1.0, 0, "bad.json"},
			[]any{bad.State, bad.Progress, bad.Chunks, bad.Name})
		require.Contains(t, bad.Messages, "[ERROR] ")
		require.Equal(t, []any{dataset.Done, 1.0, 1, int64(18), Source}, []any{
			good.State, good.Progress, good.Chunks, good.Size, good.Source,
		})
		require.Contains(t, good.Messages, "Generate 1 chunks")
		require.Contains(t, good.Messages, "Task done")
		require.Positive(t, good.Tokens)
		require.Len(t, good.Hash, 64)
		sets := f.Datasets("")
		require.Len(t, sets, 1)
		require.Equal(t, []any{"a", 2, 1, true, true}, []any{
			sets[0].Name, sets[0].Documents, sets[0].Chunks, sets[0].ReadOnly, sets[0].Team,
		})
		require.Equal(t, good.Dataset, sets[0].ID)
	}
	check(f)
	in, err := f.Open("", idOf("a"), f.document(t, "a", "good.md").ID)
	require.NoError(t, err)
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.Equal(t, "# One\n\nSome words.", string(text))
	require.NoError(t, f.Close())

	held := &heldCutter{begun: make(chan struct{}, 9)}
	write(t, root, "a/new.md", "new")
	cfg.Cutter = held
	f = open(t, cfg)
	<-held.begun
	require.Equal(t, dataset.Running, f.document(t, "a", "new.md").State)
	require.Equal(t, 3, f.Datasets("")[0].Documents)
	require.Equal(t, dataset.Done, f.document(t, "a", "good.md").State, "it is not read again")
	require.NoError(t, f.Close())
}

// heldCutter begins and does not end before its context.
type heldCutter struct{ begun chan struct{} }

func (c *heldCutter) Cut(ctx context.Context, _ ingest.Input) iter.Seq2[ingest.Piece, error] {
	return func(yield func(ingest.Piece, error) bool) {
		c.begun <- struct{}{}
		<-ctx.Done()
		yield(ingest.Piece{}, ctx.Err())
	}
}

// emptyingCutter empties a file while it is read for the first time, as an editor does that saves
// it, and restores it afterwards.
type emptyingCutter struct {
	ingest.Cutter
	t     *testing.T
	path  string
	reads atomic.Int32
}

func (c *emptyingCutter) Cut(ctx context.Context, in ingest.Input) iter.Seq2[ingest.Piece, error] {
	if c.reads.Add(1) > 1 {
		return c.Cutter.Cut(ctx, in)
	}
	return func(yield func(ingest.Piece, error) bool) {
		text, err := os.ReadFile(c.path)
		require.NoError(c.t, err)
		require.NoError(c.t, os.Truncate(c.path, 0))
		c.Cutter.Cut(ctx, in)(yield)
		require.NoError(c.t, os.WriteFile(c.path, text, 0o600))
	}
}

// A file that is saved while it is read is read again, also if its content stays the same.
func TestFileThatIsSavedWhileItIsRead(t *testing.T) {
	root := files(t, "a/1.txt", "apple")
	reader := &document.Reader{}
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	cut := &emptyingCutter{
		Cutter: ingest.DocumentCutter{Reader: reader}, t: t, path: filepath.Join(root, "a", "1.txt"),
	}
	f := opened(t, Config{Root: root, Cutter: cut, Poll: time.Millisecond})
	becomes(t, f, "apple", "1.txt: apple")
}

func TestSearchDuringTheFirstScan(t *testing.T) {
	held := &heldCutter{begun: make(chan struct{}, 9)}
	f := opened(t, Config{Root: files(t, "a/x.txt", "apple"), Cutter: held, Wait: time.Millisecond})
	<-held.begun
	_, err := f.Retriever("").Retrieve(t.Context(), &engine.RetrievalQuery{Text: "apple", Datasets: []string{"a"}})
	require.ErrorIs(t, err, ErrScanning)
	require.ErrorContains(t, err, "0 of 1")
}

func TestLinksAreNotFollowed(t *testing.T) {
	secret := files(t, "s.txt", "apple")
	root := files(t, "a/good.txt", "apple")
	require.NoError(t, os.Symlink(filepath.Join(secret, "s.txt"), filepath.Join(root, "a", "link.txt")))
	require.NoError(t, os.Symlink(secret, filepath.Join(root, "b")))
	f := opened(t, Config{Root: root, Poll: -1})
	require.Equal(t, []string{"good.txt: apple"}, ask(t, f, "apple", "a"))
	_, err := f.Retriever("").Retrieve(t.Context(), &engine.RetrievalQuery{Text: "apple", Datasets: []string{"b"}})
	require.ErrorContains(t, err, "does not exist")
}

// countingCutter fails with an error that a test chooses, and counts how often it is asked.
type countingCutter struct {
	err   atomic.Pointer[error]
	reads atomic.Int32
}

func (c *countingCutter) fail(err error) { c.err.Store(&err) }

func (c *countingCutter) Cut(_ context.Context, _ ingest.Input) iter.Seq2[ingest.Piece, error] {
	return func(yield func(ingest.Piece, error) bool) {
		c.reads.Add(1)
		if err := c.err.Load(); err != nil {
			yield(ingest.Piece{}, *err)
			return
		}
		yield(ingest.Piece{Content: "apple", Tokens: 1}, nil)
	}
}

// scanOnce opens a folder, scans it once, and closes it.
func scanOnce(t *testing.T, cfg Config) {
	t.Helper()
	cfg.Poll = -1
	f := open(t, cfg)
	require.NoError(t, f.Await(t.Context()))
	require.NoError(t, f.Close())
}

// A document that cannot be read is read again when its content changes, not when it is touched and
// not at a start.
func TestFailedDocumentIsReadOnce(t *testing.T) {
	c := &countingCutter{}
	cfg := Config{Root: files(t, "a/x.pdf", "broken"), Dir: t.TempDir(), Cutter: c}
	c.fail(document.ErrDamaged)
	scanOnce(t, cfg)
	scanOnce(t, cfg)
	require.EqualValues(t, 1, c.reads.Load(), "the records have it")

	file := filepath.Join(cfg.Root, "a", "x.pdf")
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(file, later, later))
	scanOnce(t, cfg)
	require.EqualValues(t, 1, c.reads.Load(), "the content is the same")

	c.err.Store(nil)
	write(t, cfg.Root, "a/x.pdf", "mended")
	scanOnce(t, cfg)
	require.EqualValues(t, 2, c.reads.Load())
	require.NoError(t, os.Chtimes(file, later, later))
	scanOnce(t, cfg)
	require.EqualValues(t, 2, c.reads.Load(), "the content is the same")
	require.Equal(t, []string{"x.pdf: apple"}, ask(t, opened(t, cfg), "apple", "a"))
}

// A document that could not be read for now is read by the next scan.
func TestBusyDocumentIsReadAgain(t *testing.T) {
	c := &countingCutter{}
	cfg := Config{Root: files(t, "a/x.pdf", "x"), Dir: t.TempDir(), Cutter: c}
	c.fail(document.ErrBusy)
	scanOnce(t, cfg)
	c.err.Store(nil)
	scanOnce(t, cfg)
	require.EqualValues(t, 2, c.reads.Load())
	require.Equal(t, []string{"x.pdf: apple"}, ask(t, opened(t, cfg), "apple", "a"))
}

// meetingCutter returns the pieces of a document when as many others are read at the same time.
type meetingCutter struct {
	arrived chan struct{}
	all     chan struct{}
}

func (c *meetingCutter) Cut(ctx context.Context, in ingest.Input) iter.Seq2[ingest.Piece, error] {
	return func(yield func(ingest.Piece, error) bool) {
		c.arrived <- struct{}{}
		select {
		case <-c.all:
			yield(ingest.Piece{Content: "apple " + in.Source.Name, Tokens: 1}, nil)
		case <-ctx.Done():
			yield(ingest.Piece{}, ctx.Err())
		}
	}
}

// As many documents are read at once as there are workers; a search waits for none of them.
func TestDocumentsAreReadAtOnce(t *testing.T) {
	const workers = 3
	c := &meetingCutter{arrived: make(chan struct{}, 9), all: make(chan struct{})}
	root := files(t, "a/1.txt", "x", "a/2.txt", "x", "a/3.txt", "x", "a/4.txt", "x")
	f := opened(t, Config{Root: root, Cutter: c, Workers: workers, Poll: -1})
	for range workers {
		<-c.arrived
	}
	stats, err := f.Index().Stats(t.Context(), "a")
	require.NoError(t, err)
	require.Zero(t, stats.Chunks)
	close(c.all)
	require.NoError(t, f.Await(t.Context()))
	require.Len(t, ask(t, f, "apple", "a"), 4)
}

// What another version could not read is read by this one.
func TestFailureOfAnotherVersion(t *testing.T) {
	r := &record{Failure: failureOf(document.ErrDamaged)}
	require.False(t, r.again(true))
	r.Failure.Version++
	require.True(t, r.again(false))
}

// numbered embeds texts by the number of their words, and fails while broken is set.
type numbered struct {
	name   string
	broken atomic.Bool
	calls  atomic.Int32
}

func (m *numbered) Model() string { return m.name }

func (m *numbered) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.calls.Add(1)
	if m.broken.Load() {
		return nil, fmt.Errorf("no answer")
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = []float32{1, float32(len(strings.Fields(text)))}
	}
	return out, nil
}

// Documents are embedded, again when the model changes, and as soon as the model answers.
func TestDocumentsAreEmbedded(t *testing.T) {
	model := &numbered{name: "m"}
	model.broken.Store(true)
	cfg := Config{
		Root: files(t, "a/1.txt", "one two three", "a/2.txt", "x"), Dir: t.TempDir(), Embedder: model, Model: "m",
		Poll: time.Millisecond,
	}
	f := open(t, cfg)
	require.Eventually(t, func() bool { return model.calls.Load() > 1 }, patience, time.Millisecond)
	model.broken.Store(false)
	nearest := func(f *Folder, want string) {
		t.Helper()
		var found engine.Found
		require.Eventually(t, func() bool {
			var err error
			found, err = f.Retriever("").Retrieve(t.Context(),
				&engine.RetrievalQuery{Text: "seven eight nine", Datasets: []string{"a"}, TopN: 1})
			require.NoError(t, err)
			return len(found.Chunks) == 1 && found.Chunks[0].Get("docnm_kwd").Str() == want
		}, patience, time.Millisecond)
		v, _ := found.Chunks[0].Get("vector_similarity").Float()
		require.Greater(t, v, 0.9)
	}
	nearest(f, "1.txt")
	require.Eventually(t, func() bool {
		return f.document(t, "a", "2.txt").State == dataset.Done
	}, patience, time.Millisecond)
	require.NoError(t, f.Close())

	before := model.calls.Load()
	scanOnce(t, cfg)
	require.Equal(t, before, model.calls.Load(), "nothing has changed")
	other := &numbered{name: "n"}
	cfg.Embedder, cfg.Model = other, "n"
	f = open(t, cfg)
	nearest(f, "1.txt")
	require.NoError(t, f.Close())
	require.EqualValues(t, 2+1, other.calls.Load(), "two documents and a question")
}
