package app

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Memory is the budget of one request. Services reserve from it what stored documents take.
type Memory interface {
	// Reserve takes n bytes until the request has been answered.
	Reserve(n int64) error
}

type memoryKey struct{}

// WithMemory returns a context whose documents are reserved from m.
func WithMemory(ctx context.Context, m Memory) context.Context {
	return context.WithValue(ctx, memoryKey{}, m)
}

// LargeDocument is the size from which stored documents are reserved, in bytes.
const LargeDocument = 64 << 10

// listFactor is the memory of a stored document in a list, with its parsed and written forms, as a
// multiple of its size.
const listFactor = 4

// reserve takes n bytes from the budget of the request of ctx, if it has one.
func reserve(ctx context.Context, n int64) error {
	if m, ok := ctx.Value(memoryKey{}).(Memory); ok {
		return m.Reserve(n)
	}
	return nil
}

// reserveDocument takes what it needs to read a stored document and to answer with it.
func reserveDocument(ctx context.Context, doc []byte) error {
	if len(doc) < LargeDocument {
		return nil
	}
	return reserve(ctx, engine.JSONSize(string(doc))+2*int64(len(doc)))
}
