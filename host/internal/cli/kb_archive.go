package cli

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"

	services "github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// An archive of a dataset is a zip file: dataset.json with the settings, documents.json with the
// documents in the order of their files, which are files/0, files/1 and so on.

// archivedDocument is the entry of a document in documents.json.
type archivedDocument struct {
	Name     string          `json:"name"`
	Method   string          `json:"method,omitempty"`
	Config   json.RawMessage `json:"config,omitempty"`
	Meta     map[string]any  `json:"metadata,omitempty"`
	Disabled bool            `json:"disabled,omitempty"`
	// Edited are the chunks that users have written or changed.
	Edited []dataset.Chunk `json:"edited,omitempty"`
}

const (
	archiveDataset   = "dataset.json"
	archiveDocuments = "documents.json"
	archiveFiles     = "files/"
	largestList      = 256 << 20 // bytes of documents.json
)

var kbExport = kbVerb("export", "DATASET FILE [FLAGS]", "writes a dataset with its documents to a zip file", `
Chunks that were written or changed by hand are in it; others are made again by import.

  easel kb export handbook handbook.zip
`, nil, (*knowledgeBase).export)

func (k *knowledgeBase) export(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return misuse("kb export", "expected a DATASET and a FILE")
	}
	ds, err := k.named(ctx, args[0])
	if err != nil {
		return err
	}
	list, _, err := k.data.Service.Documents(ctx, k.who, ds.ID, services.DocumentList{Size: -1, Ascending: true})
	if err != nil {
		return err
	}
	return writeWhole(args[1], func(w io.Writer) error {
		z := zip.NewWriter(w)
		show := k.progress()
		entries := make([]archivedDocument, len(list))
		for i := range list {
			show("writing", i, len(list))
			if entries[i], err = k.archive(ctx, z, &list[i], archiveFiles+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		return errors.Join(putJSON(z, archiveDataset, ds), putJSON(z, archiveDocuments, entries), z.Close())
	})
}

// archive writes the file of a document and returns its entry.
func (k *knowledgeBase) archive(
	ctx context.Context, z *zip.Writer, d *dataset.Document, name string,
) (archivedDocument, error) {
	a := archivedDocument{Name: d.Name, Method: d.Method, Config: d.Config, Meta: d.Meta, Disabled: d.Disabled}
	chunks, _, err := k.data.Service.Chunks(ctx, k.who, d.Dataset, d.ID, services.ChunkList{Size: -1})
	if err != nil {
		return a, err
	}
	for _, c := range chunks {
		if c.Edited {
			a.Edited = append(a.Edited, c)
		}
	}
	r, _, err := k.data.Service.Open(ctx, k.who, d.Dataset, d.ID)
	if err != nil {
		return a, err
	}
	w, err := z.Create(name)
	if err == nil {
		_, err = io.Copy(w, r)
	}
	return a, errors.Join(err, r.Close())
}

func putJSON(z *zip.Writer, name string, v any) error {
	w, err := z.Create(name)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(v)
}

var kbImport = kbVerb("import", "FILE [FLAGS]", "creates a dataset from a file of easel kb export and parses it", `
  easel kb import handbook.zip --name "handbook of last year"
`, (*knowledgeBase).importFlags, (*knowledgeBase).imports)

func (k *knowledgeBase) importFlags(fs *flag.FlagSet) {
	fs.StringVar(&k.name, "name", "", "`NAME` of the dataset; that in the file when left out")
}

func (k *knowledgeBase) imports(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return misuse("kb import", "expected one FILE, got %d", len(args))
	}
	z, err := zip.OpenReader(args[0])
	if err != nil {
		return &usageError{"kb import", err}
	}
	defer z.Close() // it was only read
	var ds dataset.Dataset
	var entries []archivedDocument
	err = errors.Join(readJSON(&z.Reader, archiveDataset, &ds), readJSON(&z.Reader, archiveDocuments, &entries))
	if err != nil {
		return misuse("kb import", "%s is not an archive of a dataset: %w", args[0], err)
	}
	if k.name != "" {
		ds.Name = k.name
	}
	ds.EmbeddingModel = "" // that of this host
	if ds, err = k.data.Service.Create(ctx, k.who, ds); err != nil {
		return err
	}
	fmt.Fprintf(k.a.out, "id: %s\nname: %s\n", ds.ID, ds.Name)
	show := k.progress()
	ids := make([]string, len(entries))
	for i := range entries {
		show("reading", i, len(entries))
		if ids[i], err = k.restoreDocument(ctx, &z.Reader, ds.ID, &entries[i],
			archiveFiles+strconv.Itoa(i)); err != nil {
			return fmt.Errorf("document %q: %w", entries[i].Name, err)
		}
	}
	if err := k.data.Service.Parse(ctx, k.who, ds.ID, ids...); err != nil {
		return err
	}
	parsed := k.await(ctx, ds.ID, ids, show)
	if parsed != nil && !errors.Is(parsed, errNotParsed) {
		return parsed
	}
	for i := range entries {
		if err := k.restoreChunks(ctx, ds.ID, ids[i], &entries[i]); err != nil {
			return fmt.Errorf("document %q: %w", entries[i].Name, err)
		}
	}
	return parsed
}

func readJSON(z *zip.Reader, name string, out any) error {
	f, err := z.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(json.NewDecoder(io.LimitReader(f, largestList)).Decode(out), f.Close())
}

// restoreDocument uploads a document of an archive.
func (k *knowledgeBase) restoreDocument(
	ctx context.Context, z *zip.Reader, id string, a *archivedDocument, name string,
) (string, error) {
	f, err := z.Open(name)
	if err != nil {
		return "", err
	}
	d, err := k.data.Service.Upload(ctx, k.who, id, services.Upload{Name: a.Name, Size: -1, Body: f})
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	patch := services.DocumentPatch{Method: &a.Method, Config: &a.Config}
	if a.Meta != nil {
		patch.Meta = &a.Meta
	}
	_, err = k.data.Service.UpdateDocument(ctx, k.who, id, d.ID, patch)
	return d.ID, err
}

// restoreChunks adds the edited chunks to a parsed document.
func (k *knowledgeBase) restoreChunks(ctx context.Context, id, document string, a *archivedDocument) error {
	for _, c := range a.Edited {
		if _, err := k.data.Service.AddChunk(ctx, k.who, id, document, c); err != nil {
			return err
		}
	}
	if !a.Disabled {
		return nil
	}
	off := false
	_, err := k.data.Service.UpdateDocument(ctx, k.who, id, document, services.DocumentPatch{Enabled: &off})
	return err
}
