package plugin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/easel-canvas/easel/host/internal/limit/wasmcache"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Config configures a Host. The zero value works: no disk cache, unsigned plugins
// refused from remote sources only, and nothing granted but what Load is given.
type Config struct {
	// CacheDir keeps compiled code between processes; empty means memory only.
	CacheDir string
	// Compiler is the command of a compiler process, see [CompileWork]. Empty means that modules
	// are compiled in this process, without a bound.
	Compiler []string
	// Compiling bounds a compiler process.
	Compiling CompileLimits
	// Version of this host, compared with min_host of manifests; empty skips that.
	Version string
	// BuiltIn reports the names of built-in components, which components of a file do not take, in
	// whatever case they are written; nil skips that.
	BuiltIn func(name string) bool
	// Limits is the operator's ceiling; zero fields mean DefaultLimits.
	Limits contract.Limits
	// Trust are the required signatures.
	Trust Trust
	// MaxRunning bounds the guests that compute at once; a guest that waits for the
	// host does not count. Default max(2, GOMAXPROCS).
	MaxRunning int
	// MaxCalls bounds the calls under way, waiting ones included. Default 256.
	MaxCalls int
	// MaxPerPlugin bounds the calls of one plugin under way, so that none takes all
	// places, and with them the memory of instances and their stacks. Default 32.
	MaxPerPlugin int
	// QueueWait bounds how long a call waits for its turn before it fails with Unavailable. Default
	// 10 s.
	QueueWait time.Duration
	// StartWait bounds the first instance of a plugin, which proves that the plugin starts at all,
	// together with its description of itself. Default 9 s.
	StartWait time.Duration
	// IdleFor is the time that an unused instance is kept. Default 60 s.
	IdleFor time.Duration
	// FreshUnder: a plugin of StateNone whose instances are made faster than this
	// gets a fresh one for each call. Default 1 ms; negative means never.
	FreshUnder time.Duration
	// Resolve looks up host names for http.fetch. Default net.DefaultResolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// HowToSet returns instructions for a person to set a setting or secret of a plugin; the text
	// follows "is not set; ". Default `easel plugin set` with the address of a host.
	HowToSet func(plugin string, kind SettingKind, name string) string
	// HTTP replaces the network behind http.fetch, after a request was checked;
	// for tests. Nil is the network.
	HTTP http.RoundTripper
	// Now and Random are the clock and the randomness of guests; tests pin them. Default time.Now
	// and crypto/rand.
	Now    func() time.Time
	Random io.Reader
	// Log receives the host's own log lines. Default slog.Default().
	Log *slog.Logger
	// PluginLog receives the log lines of plugins at their levels, trace below debug. Default Log.
	PluginLog *slog.Logger
}

// SettingKind distinguishes settings and secrets.
type SettingKind string

// The kinds of settings.
const (
	Setting SettingKind = "setting"
	Secret  SettingKind = "secret"
)

// onHost returns the command that sets a setting or secret of a tenant.
func onHost(plugin string, kind SettingKind, name string) string {
	value := "VALUE"
	if kind == Secret {
		value = "@VARIABLE"
	}
	return fmt.Sprintf("set it with `easel plugin set %s %s=%s --url URL`", plugin, name, value)
}

// maxModule bounds a plugin file, in bytes.
const maxModule = 16 << 20

func (c Config) withDefaults() Config {
	if c.MaxRunning == 0 {
		c.MaxRunning = max(2, runtime.GOMAXPROCS(0))
	}
	if c.MaxCalls == 0 {
		c.MaxCalls = 256
	}
	if c.MaxPerPlugin == 0 {
		c.MaxPerPlugin = 32
	}
	if c.QueueWait == 0 {
		c.QueueWait = 10 * time.Second
	}
	if c.StartWait == 0 {
		// Starting takes milliseconds, but a host that starts is busy. A start that never ends
		// takes up to 1.1 times as much processor time, and installing at most 10 s of it.
		c.StartWait = 9 * time.Second
	}
	if c.IdleFor == 0 {
		c.IdleFor = time.Minute
	}
	if c.FreshUnder == 0 {
		c.FreshUnder = time.Millisecond
	}
	if c.Resolve == nil {
		c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.HowToSet == nil {
		c.HowToSet = onHost
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.PluginLog == nil {
		c.PluginLog = c.Log
	}
	return c
}

// Host runs plugins. It is safe for concurrent use.
type Host struct {
	cfg     Config
	runtime wazero.Runtime // of compiled code
	cache   wazero.CompilationCache
	files   *wasmcache.Dir // of cache; nil in memory
	scratch string         // folder of the cache that goes with this host; "" is none
	imports importTypes
	running *slots // guests that compute
	calls   *gate  // calls under way
	fetcher *fetcher
	alive   atomic.Int64 // instances

	interpreter interpreter

	mu      sync.Mutex
	modules map[*Module]struct{}
	loads   sync.WaitGroup // under way
	stop    chan struct{}  // closed by Close
	swept   chan struct{}  // closed when the sweeper has ended
}

// ErrNoCompiler means that this machine cannot run plugins.
var ErrNoCompiler = errors.New("no compiler")

// New makes a Host. The context is for the setup only.
//
// Compiled code exists for amd64 and arm64; elsewhere wazero would interpret, 40
// to 160 times slower, so New refuses.
func New(ctx context.Context, cfg Config) (*Host, error) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil, fmt.Errorf("plugin: %w for %s; run the host on amd64 or arm64", ErrNoCompiler, runtime.GOARCH)
	}
	cfg = cfg.withDefaults()
	scratch := ""
	if cfg.CacheDir == "" && len(cfg.Compiler) > 0 {
		var err error
		if scratch, err = os.MkdirTemp("", "easel-compiled-"); err != nil {
			return nil, fmt.Errorf("plugin: cache of compiled code: %w", err)
		}
		cfg.CacheDir = scratch
	}
	files, cache, err := wasmcache.Open(cfg.CacheDir, cfg.Log)
	if err != nil {
		return nil, fmt.Errorf("plugin: open cache %s: %w", cfg.CacheDir, err)
	}
	h := &Host{
		cfg: cfg, runtime: wazero.NewRuntimeWithConfig(ctx, runtimeConfig(cache)), cache: cache, files: files, scratch: scratch,
		running: newSlots(cfg.MaxRunning), calls: newGate(cfg.MaxCalls), fetcher: newFetcher(cfg.Resolve, cfg.HTTP),
		modules: map[*Module]struct{}{}, stop: make(chan struct{}), swept: make(chan struct{}),
	}
	if h.imports, err = bindImports(ctx, h.runtime); err != nil {
		return nil, errors.Join(fmt.Errorf("plugin: bind imports: %w", err), h.runtime.Close(ctx), cache.Close(ctx))
	}
	go h.sweep()
	return h, nil
}

// sweep drops instances that were idle for a while.
func (h *Host) sweep() {
	defer close(h.swept)
	tick := time.NewTicker(max(h.cfg.IdleFor/2, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case now := <-tick.C:
			for _, m := range h.loaded() {
				m.pool.expire(now.Add(-h.cfg.IdleFor))
			}
		}
	}
}

// Instances returns how many instances of plugins are alive, idle ones included.
func (h *Host) Instances() int { return int(h.alive.Load()) }

func (h *Host) loaded() []*Module {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*Module, 0, len(h.modules))
	for m := range h.modules {
		out = append(out, m)
	}
	return out
}

// beginLoad counts a Load in, unless the host is closed. The context it returns ends with the host;
// done counts the Load out.
func (h *Host) beginLoad(ctx context.Context) (loading context.Context, done func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.stop:
		return nil, nil, contract.Errorf(contract.Closed, "the host is closed")
	default:
	}
	h.loads.Add(1)
	loading, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-h.stop:
			cancel()
		case <-loading.Done():
		}
	}()
	return loading, func() { cancel(); h.loads.Done() }, nil
}

// Close waits for calls under way, then frees everything. The context bounds the
// waiting only.
func (h *Host) Close(ctx context.Context) error {
	var errs []error
	for _, m := range h.loaded() {
		m.revoke()
		errs = append(errs, m.Close(ctx))
	}
	h.mu.Lock()
	select {
	case <-h.stop:
	default:
		close(h.stop)
	}
	h.mu.Unlock()
	h.loads.Wait() // the runtimes are closed below
	<-h.swept
	h.fetcher.close()
	free := context.WithoutCancel(ctx)
	errs = append(errs, h.interpreter.close(free), h.runtime.Close(free), h.cache.Close(free))
	if h.scratch != "" {
		errs = append(errs, os.RemoveAll(h.scratch))
	}
	return errors.Join(errs...)
}
