package runner

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// hostsWithin is how long [Hosts] listens. Hosts answer within milliseconds; one that is slow sends a heartbeat every
// quarter of its lease.
const hostsWithin = 3 * time.Second

// Hosts are the names of the hosts that are at work on the run log of an existing NATS, in alphabetical order. It listens
// for three seconds. A host that is frozen or cut off is not heard. In a server inside a process nobody else can be.
//
// Errors: [ErrUnavailable].
func Hosts(ctx context.Context, cfg Config) ([]string, error) {
	if len(cfg.URLs) == 0 {
		return nil, nil
	}
	cfg = cfg.withDefaults()
	nc, err := nats.Connect(strings.Join(cfg.URLs, ","), append(cfg.credentials(), nats.Name("easel"))...)
	if err != nil {
		return nil, fail(err, "connect to %s", plain(cfg.URLs))
	}
	defer nc.Close()
	var mu sync.Mutex
	names := map[string]string{} // by the host's name in the run log
	_, err = nc.Subscribe(cfg.Prefix+".hb.*", func(msg *nats.Msg) {
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
		err = nc.Publish(cfg.Prefix+".who", nil)
	}
	if err == nil {
		err = nc.FlushTimeout(wait)
	}
	if err != nil {
		return nil, fail(err, "hosts")
	}
	if !sleep(ctx, hostsWithin) {
		return nil, ctx.Err()
	}
	mu.Lock()
	defer mu.Unlock()
	return slices.Sorted(maps.Values(names)), nil
}
