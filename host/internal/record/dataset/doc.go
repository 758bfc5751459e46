// Package dataset holds the records of knowledge: datasets, their documents and their chunks.
//
// A [Dataset] belongs to a tenant and holds documents. A [Document] is an uploaded file with its
// state: it is parsed into chunks by a durable job, and its chunks are found by searches. Numbers
// of documents, chunks and tokens are counted from what is stored, so that lists, counts and
// searches agree.
package dataset
