package runner

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// Files lists all stored files, in no order.
func (l *Log) Files(ctx context.Context) ([]FileInfo, error) {
	list, err := l.files.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fail(err, "list files")
	}
	out := make([]FileInfo, len(list))
	for i, info := range list {
		out[i] = fileInfo(info)
	}
	return out, nil
}
