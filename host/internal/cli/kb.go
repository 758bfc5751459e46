package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"

	"github.com/easel-canvas/easel/host/internal/access"
	services "github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/datasets"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/searchmodel"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// The verbs of `easel kb`.
var kbCommand = command{
	name: "kb", args: "VERB [ARGUMENTS]",
	summary: "manages datasets of documents and evaluates searches",
	help:    verbHelp("kb", kbVerbs()),
	setup:   needsVerb("kb"),
	verbs:   kbVerbs,
}

func kbVerbs() []command {
	return []command{kbCreate, kbList, kbAdd, kbStatus, kbSearch, kbRemove, kbExport, kbImport, kbEval}
}

// kbHelp is the end of the help of verbs that use the data of a host.
const kbHelp = `
DATASET is a name or an id. The host that uses the data directory must be stopped, unless its NATS and PostgreSQL are
servers of their own.
` + placeHelpAll

// knowledgeBase is the data of a host and the dataset services on it.
type knowledgeBase struct {
	dataPlace
	tenant, name, method, language string
	embedding, rerank, index, ocr  string
	pages                          int
	size                           int
	weight                         float64

	a    *app
	who  services.Principal
	data *datasets.Datasets
	stop []func() error // in the order of opening
}

func (k *knowledgeBase) add(fs *flag.FlagSet) {
	k.addAll(fs)
	fs.StringVar(&k.tenant, "tenant", "", "`ID` of the tenant; the first one when left out")
	fs.StringVar(&k.embedding, "embedding", "", "embedding model, as of serve")
	fs.StringVar(&k.rerank, "rerank", "", "reranking model, as of serve")
	fs.StringVar(&k.index, "index", "", indexUsage)
	fs.StringVar(&k.ocr, "ocr", "", ocrUsage)
	fs.IntVar(&k.pages, "pdf-pages", 0, pagesUsage)
}

// pagesUsage is the help text of --pdf-pages.
const pagesUsage = "`N` pages up to which a PDF is read; 0 means 2000"

// indexUsage is the help text of --index.
const indexUsage = "location of the dataset index: `URL` of a PostgreSQL database, or of OpenSearch or " +
	"Elasticsearch (https://HOST:9200/PREFIX), that all hosts share, or postgres for that of --postgres; in the data " +
	"directory of each host when left out"

// use opens the data, calls f and closes it again.
func (k *knowledgeBase) use(ctx context.Context, a *app, f func(context.Context) error) (err error) {
	k.a = a
	defer func() {
		for i := len(k.stop) - 1; i >= 0; i-- {
			err = errors.Join(err, k.stop[i]())
		}
	}()
	if err := k.open(ctx, a); err != nil {
		return err
	}
	return f(ctx)
}

func (k *knowledgeBase) open(ctx context.Context, a *app) error {
	cfg, err := k.store(a)
	if err != nil {
		return err
	}
	if err := k.there(); err != nil {
		return err
	}
	conn, err := broker.Open(ctx, k.broker(a), "easel kb")
	if errors.Is(err, broker.ErrLocked) {
		return fmt.Errorf("%w: stop the host that uses %s first, or use its API", err, k.dir)
	}
	if err != nil {
		return err
	}
	k.stop = append(k.stop, conn.Close)
	files, err := blobs.Open(ctx, conn, k.bucket)
	if err != nil {
		return err
	}
	cfg.AsIs = true
	records, err := store.Open(ctx, cfg)
	if err != nil {
		return err
	}
	k.stop = append(k.stop, records.Close)
	if err := k.choose(ctx, records); err != nil {
		return err
	}
	parts, err := k.config(a)
	if err != nil {
		return &usageError{"kb", err}
	}
	parts.Store, parts.Files, parts.Alone = records, files, cfg.URL == ""
	if parts.Alone {
		parts.Dir = k.dir
	}
	if k.data, err = datasets.Open(ctx, parts); err != nil {
		return err
	}
	k.stop = append(k.stop, k.data.Close)
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() { k.data.Ingester.Run(working) })
	k.stop = append(k.stop, func() error { cancel(); work.Wait(); return nil })
	return nil
}

// config returns what the flags say about models, index and reading.
func (k *knowledgeBase) config(a *app) (datasets.Config, error) {
	models, err := searchmodel.Open(searchmodel.Config{
		Embedding: cmp.Or(k.embedding, a.getenv("EASEL_EMBEDDING")), EmbeddingKey: a.getenv("EASEL_EMBEDDING_KEY"),
		Builtin: searchmodel.OfProgram(),
		Rerank:  cmp.Or(k.rerank, a.getenv("EASEL_RERANK")), RerankKey: a.getenv("EASEL_RERANK_KEY"),
	})
	if err != nil {
		return datasets.Config{}, err
	}
	index, err := datasets.IndexAddress(cmp.Or(k.index, a.getenv("EASEL_INDEX")), k.postgres)
	if err != nil {
		return datasets.Config{}, err
	}
	images, err := imageReader(a, k.ocr)
	if err != nil {
		return datasets.Config{}, err
	}
	reader := &document.Reader{OCR: images, Limits: document.Limits{Pages: k.pages}}
	k.stop = append(k.stop, reader.Close)
	return datasets.Config{
		Cutter: ingest.DocumentCutter{Reader: reader}, Models: models, Logger: k.dataPlace.broker(a).Log, Index: index,
	}, nil
}

// choose selects the tenant.
func (k *knowledgeBase) choose(ctx context.Context, records *store.Store) error {
	list, err := records.Tenants.List(ctx)
	if err != nil {
		return err
	}
	for _, t := range list {
		if k.tenant == "" || t.ID == k.tenant {
			k.who = services.For(access.All(t.ID))
			return nil
		}
	}
	if k.tenant == "" {
		return &usageError{"kb", errNoTenant}
	}
	return misuse("kb", "--tenant %s: no such tenant", k.tenant)
}

// named returns the dataset with an id or name.
func (k *knowledgeBase) named(ctx context.Context, name string) (dataset.Dataset, error) {
	ds, err := k.data.Service.Get(ctx, k.who, name)
	if !errors.Is(err, services.ErrNotFound) {
		return ds, err
	}
	list, _, err := k.data.Service.List(ctx, k.who, services.DatasetList{Name: name, Size: 1})
	if err != nil {
		return ds, err
	}
	if len(list) == 0 {
		return ds, misuse("kb", "no dataset %q; easel kb list shows all", name)
	}
	return list[0], nil
}
