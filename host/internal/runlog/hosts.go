package runlog

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// hostsWithin is the time that [Hosts] listens. Hosts answer within milliseconds; one that is slow
// sends a heartbeat every quarter of its lease.
const hostsWithin = 3 * time.Second

// Hosts returns the names of the hosts at work on an existing NATS, sorted. It
// listens for three seconds; a host that is frozen or cut off is not found. An
// embedded server has no hosts but its own process.
//
// Errors: [broker.ErrUnavailable].
func Hosts(ctx context.Context, cfg broker.Config) ([]string, error) {
	if len(cfg.URLs) == 0 {
		return nil, nil
	}
	conn, err := broker.Open(ctx, cfg, "easel")
	if err != nil {
		return nil, err
	}
	// Nothing was written, so a failed close loses nothing.
	defer func() { _ = conn.Close() }()
	var mu sync.Mutex
	names := map[string]string{} // by the host's name in the run log
	_, err = conn.NATS.Subscribe(conn.Subject("hb", "*"), func(msg *nats.Msg) {
		host := msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:]
		mu.Lock()
		defer mu.Unlock()
		switch name := string(msg.Data); name {
		case bye:
			delete(names, host)
		case "":
			names[host] = host
		default:
			names[host] = name
		}
	})
	if err == nil {
		err = conn.NATS.Publish(conn.Subject("who"), nil)
	}
	if err == nil {
		err = conn.NATS.FlushTimeout(broker.Wait)
	}
	if err != nil {
		return nil, broker.Fail(err, "hosts")
	}
	if !broker.Sleep(ctx, hostsWithin) {
		return nil, ctx.Err()
	}
	mu.Lock()
	defer mu.Unlock()
	return slices.Sorted(maps.Values(names)), nil
}
