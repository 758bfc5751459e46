package redisdoor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Keys stores values with a time to live. Package kv implements it.
type Keys interface {
	// Put sets a key; a ttl of 0 keeps it until it is deleted.
	Put(ctx context.Context, key string, value []byte, ttl time.Duration) error
	// Get returns a value and its remaining time to live, or broker.ErrNotFound.
	Get(ctx context.Context, key string) (value []byte, ttl time.Duration, err error)
	// Delete removes a key. A missing key is not an error.
	Delete(ctx context.Context, key string) error
}

// Config holds the address, the access rules and the limits of a door.
type Config struct {
	Addr     string // host:port; a loopback host unless Remote is set
	Password string // required from every client unless Open is set
	Remote   bool   // may listen on addresses other than loopback
	Open     bool   // may run without a password
	Conns    int    // maximum number of connections; 0 means 64
	Value    int    // maximum size of a value in bytes; 0 means 1 MiB
	Keys     Keys
	Log      *slog.Logger // nil means slog.Default
}

// Door is a listening server. It serves until [Door.Close].
type Door struct {
	cfg      Config
	listener net.Listener
	slots    chan struct{}
	ctx      context.Context
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// Timeouts of a connection: until it authenticates, between commands, and of a write.
const (
	helloTime = 10 * time.Second
	idleTime  = 30 * time.Minute
	writeTime = 10 * time.Second
)

// Listen starts a door. It returns [ErrOpenDoor] if cfg exposes the door without protection.
func Listen(cfg Config) (*Door, error) {
	if cfg.Password == "" && !cfg.Open {
		return nil, fmt.Errorf("%w: set a password", ErrOpenDoor)
	}
	addr, err := net.ResolveTCPAddr("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("redis door: address %q: %w", cfg.Addr, err)
	}
	if !addr.IP.IsLoopback() && !cfg.Remote {
		return nil, fmt.Errorf("%w: %q is reachable from other machines; use 127.0.0.1 or allow it", ErrOpenDoor,
			cfg.Addr)
	}
	if cfg.Conns == 0 {
		cfg.Conns = 64
	}
	if cfg.Value == 0 {
		cfg.Value = 1 << 20
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("redis door: %w", err)
	}
	d := &Door{cfg: cfg, listener: listener, slots: make(chan struct{}, cfg.Conns)}
	d.ctx, d.stop = context.WithCancel(context.Background())
	d.wg.Go(d.accept)
	return d, nil
}

// Addr returns the address the door listens on.
func (d *Door) Addr() net.Addr { return d.listener.Addr() }

// Close stops listening and closes all connections.
func (d *Door) Close() error {
	d.stop()
	err := d.listener.Close()
	d.wg.Wait()
	return err
}

func (d *Door) accept() {
	for {
		conn, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Most likely out of file descriptors, which other connections may release.
			d.cfg.Log.Warn("redis door", "err", err)
			select {
			case <-time.After(100 * time.Millisecond):
				continue
			case <-d.ctx.Done():
				return
			}
		}
		select {
		case d.slots <- struct{}{}:
			d.wg.Go(func() {
				defer func() { <-d.slots }()
				d.serve(conn)
			})
		default:
			// The reason is best effort: the connection is closed either way.
			_ = conn.SetDeadline(time.Now().Add(time.Second))
			_, _ = io.WriteString(conn, "-ERR max number of clients reached\r\n")
			_ = conn.Close()
		}
	}
}

// serve handles one connection until the client quits or violates the protocol.
func (d *Door) serve(conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(d.ctx, func() { conn.Close() })()
	c := client{
		door: d, in: bufio.NewReaderSize(conn, maxLine), out: reply{bufio.NewWriter(conn)},
		authenticated: d.cfg.Open && d.cfg.Password == "",
	}
	for !c.quit {
		wait, size := idleTime, d.cfg.Value+maxLine
		if !c.authenticated {
			wait, size = helloTime, maxLine
		}
		// If the deadline cannot be set, the connection is closed and the read fails.
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		args, err := readCommand(c.in, size)
		if errors.Is(err, errProtocol) {
			c.out.fail("ERR %v", err)
			c.quit = true
		} else if err != nil {
			return
		} else if len(args) > 0 {
			c.answer(d.ctx, args)
		}
		if c.in.Buffered() > 0 && !c.quit {
			continue // pipelined commands: flush their replies together
		}
		_ = conn.SetWriteDeadline(time.Now().Add(writeTime))
		if c.out.Flush() != nil {
			return
		}
	}
}
