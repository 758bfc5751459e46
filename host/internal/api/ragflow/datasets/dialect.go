package datasets

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Dialect checks requests and words and shapes responses for one version.
type Dialect interface {
	datasetDialect
	documentDialect
	chunkDialect
	// ownRoutes are routes that only this version has.
	ownRoutes(f *face) []api.Route
	refusals() *refusals
}

// datasetDialect is about datasets.
type datasetDialect interface {
	requests() *requests
	// lacks refuses datasets that the tenant does not have.
	lacks(tenant, what string) error
	// badModel refuses an embedding model.
	badModel(model string) error
	// changesModel refuses another embedding model for a dataset with chunks; nil accepts it.
	changesModel(v dataset.Dataset) error
	// nothingModified refuses a change without members.
	nothingModified() error
	// deletesAll reports whether a request deletes all datasets.
	deletesAll(in *schema.Input) bool
	// deletedDatasets answers how many datasets were deleted.
	deletedDatasets(n int) api.Response
	datasetRow(v dataset.Dataset) engine.Value
	// summary is the values of a metadata key.
	summary(counts map[string]int) engine.Value
}

// documentDialect is about documents.
type documentDialect interface {
	// say is a failure in a sentence.
	say(sentence string) error
	noDocument(id string) error
	// uploadsOther reports whether documents are made of addresses and of nothing as well.
	uploadsOther() bool
	// countsInLists reports whether a list of documents has their counts on request.
	countsInLists() bool
	// refusedFiles refuses files that a dataset does not take; stored are the others.
	refusedFiles(lines string, stored engine.Value) error
	// page returns the requested page of a list.
	page(q api.Query) (page, size int, err error)
	// documentOrder is the order of a list of documents.
	documentOrder(asked string) (string, error)
	// checkDocument checks the members of a document update.
	checkDocument(body engine.Value) error
	// setsPipelines reports whether a change of a document may name a pipeline.
	setsPipelines() bool
	// deleteDocuments deletes the documents of a dataset that a body names, or every one.
	deleteDocuments(ctx context.Context, f *face, r *api.Request, id string) (api.Response, error)
	// refusesParse reports whether a document cannot be parsed now.
	refusesParse(v dataset.Document) bool
}

// chunkDialect is about chunks and searches.
type chunkDialect interface {
	chunkRow(v dataset.Chunk) engine.Value
	// addedChunk completes the row of a chunk that was added.
	addedChunk(b *engine.ObjectBuilder, v dataset.Chunk) engine.Value
	noChunk(path string) error
	// notContent refuses content of a chunk that is not a string, notTexts such a member of a list
	// of a chunk that is added or changed.
	notContent(v engine.Value) error
	notTexts(name string, i int, v engine.Value, changed bool) error
	// available reads whether a changed chunk is visible to searches.
	available(v engine.Value) (bool, error)
	// deletesUnnamed reports whether a request that names no chunks deletes all of a document.
	deletesUnnamed(every bool) bool
	hitRow(h app.SearchHit, q *query) engine.Value
	// highlight reads whether found words are marked.
	highlight(v engine.Value) (bool, error)
	// metadataFields reads whether hits have metadata of their documents, and which; nil is all.
	metadataFields(body engine.Value) (fields []string, include bool)
	// difyLacks refuses a request of Dify's without some members.
	difyLacks(names []string) error
	// difyRecord is a hit as Dify reads it.
	difyRecord(h app.SearchHit) engine.Value
}
