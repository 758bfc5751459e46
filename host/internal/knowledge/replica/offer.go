package replica

import (
	"bytes"
	"context"
	"io"
)

// Offer passes the content of a chunk file that was just stored to the replica. Until it is
// withdrawn, the replica does not read that file back from the object store.
func (r *Replica) Offer(name string, data []byte) (withdraw func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh[name] = data
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.fresh, name)
	}
}

// open opens a chunk file.
func (r *Replica) open(ctx context.Context, name string) (io.ReadCloser, error) {
	r.mu.Lock()
	data, ok := r.fresh[name]
	r.mu.Unlock()
	if ok {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	in, _, err := r.cfg.Files.Open(ctx, name)
	return in, err
}
