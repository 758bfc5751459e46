package host

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
)

// startPatience bounds the wait of a starting host for NATS and PostgreSQL. Servers that are
// started together, or again after a crash, come in any order.
const startPatience = 30 * time.Second

// await retries opening a server's client while the server is unavailable. Embedded servers are not
// awaited.
func (h *Host) await(ctx context.Context, what string, outside bool, open func() error) error {
	late := time.Now().Add(startPatience)
	err := open()
	if !outside {
		return err
	}
	for told := false; errors.Is(err, broker.ErrUnavailable) || errors.Is(err, store.ErrUnavailable); told = true {
		if time.Now().After(late) {
			return err
		}
		if !told {
			h.cfg.Log.Warn("server is not reachable yet, waiting", "for", what, "at_most", startPatience, "err", err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(500 * time.Millisecond):
		}
		err = open()
	}
	return err
}
