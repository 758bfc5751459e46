package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/folder"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/rerank"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// DatasetLimits bound what the datasets of a tenant hold; 0 means no bound.
type DatasetLimits struct {
	File   int64 // bytes of one document
	Bytes  int64 // of all documents
	Chunks int64
}

// SearchModels are the models that datasets are searched with.
type SearchModels interface {
	// Embedder opens an embedding model of a tenant. Errors: [ErrUnknownModel].
	Embedder(ctx context.Context, tenant, name string) (embed.Embedder, error)
	// DefaultEmbedding names the model of new datasets in a language; "" searches by words.
	DefaultEmbedding(tenant, language string) string
	// Reranker opens a reranking model of a tenant. Errors: [ErrUnknownModel].
	Reranker(ctx context.Context, tenant, name string) (rerank.Reranker, error)
}

// ErrUnknownModel means that no model has the name.
var ErrUnknownModel = embed.ErrUnknown

// Datasets are collections of documents that are searched.
type Datasets struct {
	Followers DatasetFollowers

	store    *store.Store
	files    *blobs.Store
	replica  *replica.Replica
	ingester *ingest.Ingester
	models   SearchModels
	limits   DatasetLimits
	watched  watched
	projects *Projects
}

// DatasetsConfig configures [Datasets]. All but Limits and Folder are required.
type DatasetsConfig struct {
	Store    *store.Store
	Files    *blobs.Store
	Replica  *replica.Replica
	Ingester *ingest.Ingester
	Models   SearchModels
	Limits   DatasetLimits
	// Folder holds read-only datasets of files; nil means none.
	Folder *folder.Folder
	Logger *slog.Logger
}

// NewDatasets makes the service.
func NewDatasets(cfg DatasetsConfig) *Datasets {
	w := watched{cfg.Folder}
	return &Datasets{
		Followers: newDatasetFollowers(cfg.Store, w, cfg.Logger),
		store:     cfg.Store, files: cfg.Files, replica: cfg.Replica, ingester: cfg.Ingester, models: cfg.Models,
		limits: cfg.Limits, watched: w, projects: &Projects{cfg.Store},
	}
}

// longestDatasetName bounds the characters of the name of a dataset.
const longestDatasetName = 128

// NoEmbedding is the EmbeddingModel of a dataset that is searched by words although there is a
// default model.
const NoEmbedding = "none"

// Create adds a dataset. A name that is taken becomes "name(1)". An empty EmbeddingModel is the
// default of the host, [NoEmbedding] none; an empty Method without a Pipeline is structure. Errors:
// those of [Error].
func (d *Datasets) Create(ctx context.Context, p Principal, ds dataset.Dataset) (dataset.Dataset, error) {
	var err error
	if ds.Name, err = datasetName(ds.Name); err != nil {
		return dataset.Dataset{}, err
	}
	if ds.EmbeddingModel, err = d.embeddingModel(ctx, p, ds.EmbeddingModel, ds.Language); err != nil {
		return dataset.Dataset{}, err
	}
	if err := checkSynonyms(ds.Synonyms); err != nil {
		return dataset.Dataset{}, err
	}
	if err := d.projects.Place(ctx, p, ds.Project); err != nil {
		return dataset.Dataset{}, err
	}
	if ds.Method == "" && ds.Pipeline == "" {
		ds.Method = chunking.Structure
	}
	ds.ID, ds.Tenant, ds.CreatedBy, ds.PipelineBy = store.NewDocumentID(), p.Tenant, p.User, p.User
	v, err := d.store.Datasets.Create(ctx, store.Dataset{Dataset: ds, Model: ds.EmbeddingModel})
	return v.Dataset, err
}

// Bounds of the synonyms of a dataset.
const (
	maxSynonymGroups  = 1000
	maxSynonyms       = 20 // of a group
	longestSynonym    = 100
	synonymComplaint  = "synonyms must be at most %d groups of 2 to %d words, each of 1 to %d characters"
	leastSynonymWords = 2
)

func checkSynonyms(groups [][]string) error {
	bad := len(groups) > maxSynonymGroups
	for _, group := range groups {
		bad = bad || len(group) < leastSynonymWords || len(group) > maxSynonyms
		for _, word := range group {
			n := utf8.RuneCountInString(strings.TrimSpace(word))
			bad = bad || n == 0 || n > longestSynonym || !utf8.ValidString(word)
		}
	}
	if bad {
		text := fmt.Sprintf(synonymComplaint, maxSynonymGroups, maxSynonyms, longestSynonym)
		return &Error{CodeBadArgument, text, "synonyms"}
	}
	return nil
}

func datasetName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if n := len([]rune(name)); n == 0 || n > longestDatasetName {
		return "", &Error{CodeBadArgument, fmt.Sprintf("name must have 1 to %d characters", longestDatasetName), "name"}
	}
	return name, nil
}

// ofRAGFlow ends the names of the models that RAGFlow runs itself, NAME@Builtin and
// NAME@Local@Builtin. Its clients send them unasked, so they mean the default model.
const ofRAGFlow = "@Builtin"

// embeddingModel checks the model of a dataset.
func (d *Datasets) embeddingModel(ctx context.Context, p Principal, name, language string) (string, error) {
	switch name {
	case "":
		return d.models.DefaultEmbedding(p.Tenant, language), nil
	case NoEmbedding:
		return "", nil
	}
	_, err := d.models.Embedder(ctx, p.Tenant, name)
	if usual := d.models.DefaultEmbedding(p.Tenant, ""); errors.Is(err, ErrUnknownModel) && usual != "" &&
		strings.HasSuffix(name, ofRAGFlow) {
		return usual, nil
	}
	if errors.Is(err, ErrUnknownModel) {
		err = &Error{CodeBadArgument, fmt.Sprintf("Unsupported model: <%s>", name), "embedding_model"}
	}
	return name, err
}

// Get returns a dataset that the principal sees. Errors: [ErrNotFound].
func (d *Datasets) Get(ctx context.Context, p Principal, id string) (dataset.Dataset, error) {
	if v, ok := d.watched.get(p, id); ok {
		return v, nil
	}
	v, err := d.get(ctx, p, id)
	if err == nil && v.Model != v.EmbeddingModel {
		v.Embedding, err = d.store.Datasets.EmbeddingProgress(ctx, id)
	}
	if err == nil {
		err = recount(ctx, d, p, &v)
	}
	return v.Dataset, err
}

// get returns a dataset of the records. One of the watched folder is refused, it cannot be changed.
func (d *Datasets) get(ctx context.Context, p Principal, id string) (store.Dataset, error) {
	if v, ok := d.watched.get(p, id); ok {
		return store.Dataset{}, readOnly(&v)
	}
	v, err := d.store.Datasets.Get(ctx, p.Tenant, id)
	if err == nil {
		err = p.Check(p.Act, v.Access())
	}
	if err != nil {
		return store.Dataset{}, missing(err, fmt.Sprintf("dataset %q", id))
	}
	return v, nil
}

// Methods returns the names of the chunk methods that a dataset may have, sorted.
func (d *Datasets) Methods() []string { return chunking.Methods() }

// DatasetList selects datasets; empty fields match all.
type DatasetList struct {
	IDs       []string
	ID, Name  string
	Words     string  // substring of the name
	Project   *string // nil for all
	Page      int     // from 1
	Size      int     // 0 means 30, a negative value all
	OrderBy   string  // create_time or update_time
	Ascending bool
}

// List returns a page of the datasets that the principal sees, and the number of all.
func (d *Datasets) List(ctx context.Context, p Principal, q DatasetList) ([]dataset.Dataset, int, error) {
	f := store.DatasetFilter{Viewer: p.Viewer(), IDs: q.IDs, Name: q.Name, Words: q.Words, Project: q.Project}
	if q.ID != "" {
		f.IDs = []string{q.ID}
	}
	if others := d.watched.list(p, &q); len(others) > 0 {
		return d.merged(ctx, f, &q, others)
	}
	list, total, err := d.store.Datasets.List(ctx, f, pageOf(q.Page, q.Size, q.OrderBy, q.Ascending))
	if err != nil {
		return nil, 0, err
	}
	out := make([]dataset.Dataset, len(list))
	for i := range list {
		if err := recount(ctx, d, p, &list[i]); err != nil {
			return nil, 0, err
		}
		out[i] = list[i].Dataset
	}
	return out, total, nil
}

// defaultPage is the page size of datasets, documents and chunks.
const defaultPage = 30

func pageOf(page, size int, order string, ascending bool) store.Page {
	if size == 0 {
		size = defaultPage
	}
	if size < 0 {
		return store.Page{Order: order, Asc: ascending}
	}
	return store.Page{Offset: max(0, page-1) * size, Limit: size, Order: order, Asc: ascending}
}

// DatasetPatch changes a dataset; nil fields stay.
type DatasetPatch struct {
	Name, Description, Avatar, Language, EmbeddingModel, Method, Pipeline *string

	Team         *bool
	Project      *string
	Config       *json.RawMessage
	AutoMetadata *json.RawMessage
	Synonyms     *[][]string
	ParseType    *int
	Pagerank     *int
}

// Update changes a dataset. With another EmbeddingModel its documents are embedded again in the
// background; the former model answers until all are. Errors: [ErrNotFound], [ErrExists] for the
// name, those of [Error].
func (d *Datasets) Update(ctx context.Context, p Principal, id string, patch DatasetPatch) (dataset.Dataset, error) {
	ds, err := d.get(ctx, p, id)
	if err != nil {
		return dataset.Dataset{}, err
	}
	next := ds
	patch.apply(&next, p.User)
	if err := d.projects.move(ctx, p, ds.Access(), next.Access()); err != nil {
		return dataset.Dataset{}, err
	}
	if patch.Pipeline != nil && *patch.Pipeline != "" && ds.Policy.Enforce && !governs(p, &ds) {
		// A pipeline reads the documents of others on behalf of who chose it.
		return dataset.Dataset{}, errGoverned
	}
	if patch.Name != nil {
		name, err := datasetName(*patch.Name)
		if err != nil {
			return dataset.Dataset{}, err
		}
		patch.Name = &name
	}
	if patch.Pagerank != nil && (*patch.Pagerank < 0 || *patch.Pagerank > 100) {
		return dataset.Dataset{}, &Error{CodeBadArgument, "pagerank must be 0 to 100", "pagerank"}
	}
	if patch.Synonyms != nil {
		if err := checkSynonyms(*patch.Synonyms); err != nil {
			return dataset.Dataset{}, err
		}
	}
	if patch.EmbeddingModel != nil {
		name, err := d.embeddingModel(ctx, p, *patch.EmbeddingModel, "")
		if err != nil {
			return dataset.Dataset{}, err
		}
		patch.EmbeddingModel = &name
	}
	v, err := d.store.Datasets.Edit(ctx, p.Viewer(), id, func(v *store.Dataset) error {
		patch.apply(v, p.User)
		return nil
	})
	if err == nil {
		d.ingester.Wake()
		err = recount(ctx, d, p, &v)
	}
	return v.Dataset, err
}

// apply changes a record on behalf of a member. A dataset without chunks has its new model at once.
func (q *DatasetPatch) apply(v *store.Dataset, by string) {
	if q.Pipeline != nil && *q.Pipeline != v.Pipeline {
		v.PipelineBy = by
	}
	set(&v.Name, q.Name)
	set(&v.Description, q.Description)
	set(&v.Avatar, q.Avatar)
	set(&v.Language, q.Language)
	set(&v.EmbeddingModel, q.EmbeddingModel)
	set(&v.Method, q.Method)
	set(&v.Pipeline, q.Pipeline)
	set(&v.Team, q.Team)
	set(&v.Project, q.Project)
	set(&v.Config, q.Config)
	set(&v.AutoMetadata, q.AutoMetadata)
	set(&v.Synonyms, q.Synonyms)
	set(&v.ParseType, q.ParseType)
	set(&v.Pagerank, q.Pagerank)
	if v.Chunks == 0 {
		v.Model = v.EmbeddingModel
	}
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Delete removes datasets with all that they hold. It returns how many there were and an error for
// each that was not removed; none named means none deleted.
func (d *Datasets) Delete(ctx context.Context, p Principal, ids ...string) (n int, errs []error) {
	for _, id := range ids {
		_, err := d.get(ctx, p, id)
		if err == nil {
			err = d.store.Datasets.Delete(ctx, p.Tenant, id)
		}
		if err != nil {
			errs = append(errs, missing(err, fmt.Sprintf("dataset %q", id)))
			continue
		}
		n++
	}
	if n > 0 {
		if err := d.ingester.Sweep(ctx); err != nil {
			errs = append(errs, fmt.Errorf("files of deleted datasets: %w", err))
		}
	}
	return n, errs
}

// Use returns what the datasets of a tenant hold, and may hold.
func (d *Datasets) Use(ctx context.Context, p Principal) (store.DatasetUse, DatasetLimits, error) {
	u, err := d.store.Datasets.Use(ctx, p.Tenant)
	return u, d.limits, err
}
