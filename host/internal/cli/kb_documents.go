package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	services "github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// kbVerb returns a verb that uses the data of a host. flags, unless nil, adds flags.
func kbVerb(
	name, args, summary, help string, flags func(*knowledgeBase, *flag.FlagSet),
	run func(k *knowledgeBase, ctx context.Context, args []string) error,
) command {
	return command{
		name: "kb " + name, args: args, summary: summary, help: help + kbHelp,
		setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
			k := &knowledgeBase{}
			k.add(fs)
			if flags != nil {
				flags(k, fs)
			}
			return func(ctx context.Context, a *app, args []string) error {
				return k.use(ctx, a, func(ctx context.Context) error { return run(k, ctx, args) })
			}
		},
	}
}

var kbCreate = kbVerb("create", "NAME [FLAGS]", "makes a dataset", `
  easel kb create handbook --method structure
`, (*knowledgeBase).createFlags, (*knowledgeBase).create)

func (k *knowledgeBase) createFlags(fs *flag.FlagSet) {
	fs.StringVar(&k.method, "method", "",
		"chunk method, such as structure, naive or one; structure when left out")
	fs.StringVar(&k.language, "language", "", "language of the documents, such as german; english when left out")
}

func (k *knowledgeBase) create(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return misuse("kb create", "expected one NAME, got %d", len(args))
	}
	ds, err := k.data.Service.Create(ctx, k.who, dataset.Dataset{Name: args[0], Method: k.method, Language: k.language})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(k.a.out, "id: %s\nname: %s\n", ds.ID, ds.Name)
	return err
}

var kbList = kbVerb("list", "[FLAGS]", "lists the datasets", "", nil, (*knowledgeBase).list)

func (k *knowledgeBase) list(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return misuse("kb list", "unexpected argument %q", args[0])
	}
	list, _, err := k.data.Service.List(ctx, k.who, services.DatasetList{Size: -1})
	if err != nil {
		return err
	}
	var rows [][]string
	for _, d := range list {
		rows = append(rows, []string{
			d.ID, d.Name, strconv.Itoa(d.Documents), strconv.Itoa(d.Chunks), strconv.Itoa(d.Tokens), d.EmbeddingModel,
		})
	}
	return printTable(k.a.out, []string{"ID", "NAME", "DOCUMENTS", "CHUNKS", "TOKENS", "MODEL"}, rows)
}

var kbAdd = kbVerb("add", "DATASET FILE... [FLAGS]", "adds files, or folders of files, and parses them", `
A file that the dataset has with the same content is left out.

  easel kb add handbook guide.pdf ./pages
`, nil, (*knowledgeBase).addFiles)

func (k *knowledgeBase) addFiles(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return misuse("kb add", "expected a DATASET and a FILE")
	}
	ds, err := k.named(ctx, args[0])
	if err != nil {
		return err
	}
	files, err := filesOf(args[1:])
	if err != nil {
		return &usageError{"kb add", err}
	}
	have, err := k.hashes(ctx, ds.ID)
	if err != nil {
		return err
	}
	show := k.progress()
	var ids []string
	for i, file := range files {
		show("uploading", i, len(files))
		hash, err := hashOf(file)
		if err != nil {
			return err
		}
		if have[hash] {
			fmt.Fprintf(k.a.out, "%s: unchanged\n", filepath.Base(file))
			continue
		}
		have[hash] = true
		d, err := k.upload(ctx, ds.ID, file)
		if err != nil {
			return err
		}
		ids = append(ids, d.ID)
	}
	if err := k.data.Service.Parse(ctx, k.who, ds.ID, ids...); err != nil {
		return err
	}
	return k.await(ctx, ds.ID, ids, show)
}

// filesOf returns the files among paths and those in folders below, without hidden ones.
func filesOf(args []string) (files []string, err error) {
	for _, arg := range args {
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != arg && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return fs.SkipDir
				}
			case d.Type().IsRegular():
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, errors.New("no files")
	}
	return files, nil
}

// hashes returns the content hashes of the documents of a dataset.
func (k *knowledgeBase) hashes(ctx context.Context, id string) (map[string]bool, error) {
	list, _, err := k.data.Service.Documents(ctx, k.who, id, services.DocumentList{Size: -1})
	out := map[string]bool{}
	for _, d := range list {
		out[d.Hash] = true
	}
	return out, err
}

// hashOf returns the hash of the content of a file.
func hashOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

func (k *knowledgeBase) upload(ctx context.Context, id, file string) (dataset.Document, error) {
	f, err := os.Open(file)
	if err != nil {
		return dataset.Document{}, err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return dataset.Document{}, err
	}
	return k.data.Service.Upload(ctx, k.who, id, services.Upload{Name: filepath.Base(file), Size: info.Size(), Body: f})
}

// progress shows the state of parsing on a terminal.
func (k *knowledgeBase) progress() func(what string, done, of int) {
	if !k.a.shows {
		return func(string, int, int) {}
	}
	return progressLine(k.a.screen)
}

// awaitEvery is the interval at which the state of documents is polled.
const awaitEvery = 100 * time.Millisecond

// errNotParsed means that documents failed to parse, which have been reported.
var errNotParsed = errors.New("not all documents were parsed")

// await waits until documents are parsed and reports those that failed.
func (k *knowledgeBase) await(ctx context.Context, id string, ids []string, show func(string, int, int)) error {
	left := ids
	failed := 0
	for {
		var still []string
		for _, document := range left {
			d, err := k.data.Service.Document(ctx, k.who, id, document)
			if err != nil {
				return err
			}
			switch d.State {
			case dataset.Queued, dataset.Running:
				still = append(still, document)
			case dataset.Done:
				fmt.Fprintf(k.a.out, "%s: %d chunks\n", d.Name, d.Chunks)
			default:
				failed++
				fmt.Fprintf(k.a.err, "%s: %s\n", d.Name, lastLine(d.Messages))
			}
		}
		if left = still; len(left) == 0 {
			break
		}
		show("parsing", len(ids)-len(left), len(ids))
		select {
		case <-time.After(awaitEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%w: %d of %d failed", errNotParsed, failed, len(ids))
	}
	return nil
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

var kbStatus = kbVerb("status", "DATASET [FLAGS]", "lists the documents of a dataset and their states", "", nil,
	(*knowledgeBase).status)

func (k *knowledgeBase) status(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return misuse("kb status", "expected one DATASET, got %d", len(args))
	}
	ds, err := k.named(ctx, args[0])
	if err != nil {
		return err
	}
	list, _, err := k.data.Service.Documents(ctx, k.who, ds.ID, services.DocumentList{Size: -1, Ascending: true})
	if err != nil {
		return err
	}
	var rows [][]string
	for _, d := range list {
		line := ""
		if d.State == dataset.Failed {
			line = lastLine(d.Messages)
		}
		rows = append(rows, []string{
			d.ID, d.Name, string(d.State), fmt.Sprintf("%.0f%%", 100*max(0, d.Progress)), strconv.Itoa(d.Chunks), line,
		})
	}
	if _, err := fmt.Fprintf(k.a.out, "index: %s\n", k.data.Index); err != nil {
		return err
	}
	return printTable(k.a.out, []string{"ID", "NAME", "STATE", "PROGRESS", "CHUNKS", "ERROR"}, rows)
}

var kbSearch = kbVerb("search", "DATASET QUESTION [FLAGS]", "searches a dataset", `
  easel kb search handbook "how long can shoes be returned?"
`, (*knowledgeBase).searchFlags, (*knowledgeBase).search)

func (k *knowledgeBase) searchFlags(fs *flag.FlagSet) {
	fs.IntVar(&k.size, "n", 5, "number of results")
	fs.Float64Var(&k.weight, "vector-weight", 0.3, "weight of vector similarity, 0 to 1")
}

func (k *knowledgeBase) search(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return misuse("kb search", "expected a DATASET and a QUESTION")
	}
	ds, err := k.named(ctx, args[0])
	if err != nil {
		return err
	}
	found, err := k.data.Service.Search(ctx, k.who, services.SearchQuery{
		Datasets: []string{ds.ID}, Question: args[1], Size: k.size, VectorWeight: k.weight,
	})
	if err != nil {
		return err
	}
	for _, text := range found.Diagnostics {
		fmt.Fprintf(k.a.err, "warning: %s\n", text)
	}
	for _, h := range found.Hits {
		fmt.Fprintf(k.a.out, "%.3f (words %.3f, vector %.3f) %s\n%s\n\n", h.Similarity, h.Term, h.Vector, h.Name,
			strings.TrimSpace(h.Content))
	}
	_, err = fmt.Fprintf(k.a.out, "%d of %d hits\n", len(found.Hits), found.Total)
	return err
}

var kbRemove = kbVerb("rm", "DATASET [DOCUMENT...] [FLAGS]", "removes documents by id or name, or a whole dataset", `
  easel kb rm handbook guide.pdf
  easel kb rm handbook
`, nil, (*knowledgeBase).remove)

func (k *knowledgeBase) remove(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return misuse("kb rm", "expected a DATASET")
	}
	ds, err := k.named(ctx, args[0])
	if err != nil {
		return err
	}
	if len(args) == 1 {
		_, errs := k.data.Service.Delete(ctx, k.who, ds.ID)
		return errors.Join(errs...)
	}
	ids, err := k.documents(ctx, ds.ID, args[1:])
	if err != nil {
		return err
	}
	_, err = k.data.Service.DeleteDocuments(ctx, k.who, ds.ID, ids...)
	return err
}

// documents returns the documents with the given ids or names.
func (k *knowledgeBase) documents(ctx context.Context, id string, names []string) (ids []string, err error) {
	for _, name := range names {
		d, err := k.data.Service.Document(ctx, k.who, id, name)
		if errors.Is(err, services.ErrNotFound) {
			list, _, err := k.data.Service.Documents(ctx, k.who, id, services.DocumentList{Name: name, Size: 1})
			if err != nil {
				return nil, err
			}
			if len(list) == 0 {
				return nil, misuse("kb rm", "no document %q", name)
			}
			d = list[0]
		} else if err != nil {
			return nil, err
		}
		ids = append(ids, d.ID)
	}
	return ids, nil
}
