package document

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"sync"
	"unsafe"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/easel-canvas/easel/host/internal/limit/wasmcache"
)

// pdfReader reads PDF with pdfium compiled to WebAssembly. The module is compiled for the first
// PDF. Each file is read by a new instance with its own memory, which takes 3 ms to create.
type pdfReader struct {
	mu     sync.Mutex
	pdfium compiled
	closed bool
}

// compiled is the compiled pdfium module and its runtime.
type compiled struct {
	pool    pdfium.Pool
	runtime wazero.Runtime
	module  wazero.CompiledModule
	cache   wazero.CompilationCache
}

var errClosed = errors.New("the reader of documents is closed")

// read adds a PDF to out, read in a sandbox of at most work bytes. ocr reads pages without text; it
// may be nil.
func (p *pdfReader) read(
	ctx context.Context, limits *Limits, data []byte, work int64, out *page, ocr OCR,
) error {
	if len(data) == 0 {
		return fmt.Errorf("%w: the file is empty", ErrDamaged)
	}
	p.mu.Lock()
	c := p.pdfium
	p.mu.Unlock()
	if c.pool == nil {
		return errClosed
	}
	s, unmap, err := c.newSandbox(work)
	if err != nil {
		return err
	}
	defer unmap() // after instance.Close, which uses the memory
	instance, err := c.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, s), c.module,
		wazero.NewModuleConfig().
			WithStartFunctions("_initialize").WithName("").WithRandSource(rand.Reader).WithStdout(io.Discard).
			WithStderr(io.Discard))
	if err != nil {
		return fmt.Errorf("reader of PDF: %w", err)
	}
	f := &pdf{ctx: ctx, limits: limits, module: instance, sandbox: s, ocr: ocr}
	err = f.read(data, out)
	if closed := instance.Close(context.WithoutCancel(ctx)); err == nil && closed != nil {
		err = fmt.Errorf("reader of PDF: %w", closed)
	}
	return err
}

// newSandbox returns memory for an instance, valid until unmap is called.
func (c *compiled) newSandbox(work int64) (s *sandbox, unmap func(), err error) {
	minimum := int64(0)
	for _, m := range c.module.ExportedMemories() {
		minimum = max(minimum, int64(m.Min())*wasmPage)
	}
	if work = work / wasmPage * wasmPage; work < minimum {
		return nil, nil, exceeded(LimitMemory, work, "bytes of memory")
	}
	room, unmap, err := mapMemory(work)
	return &sandbox{room: room}, unmap, err
}

// open compiles pdfium, or loads it from the cache. If it fails, the next PDF retries.
func (p *pdfReader) open(cacheDir string, log *slog.Logger) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	if p.pdfium.pool != nil {
		return nil
	}
	c, err := compile(cacheDir, log)
	if err != nil && cacheDir != "" {
		c, err = compile("", log) // a full or read-only disk must not prevent reading
	}
	p.pdfium = c
	return err
}

const wasmPage = 64 << 10

func compile(cacheDir string, log *slog.Logger) (compiled, error) {
	files, cache, err := wasmcache.Open(cacheDir, log)
	if err != nil {
		return compiled{}, fmt.Errorf("reader of PDF: %w", err)
	}
	var pool pdfium.Pool
	err = files.Compile("pdfium", func() (err error) {
		pool, err = webassembly.Init(webassembly.Config{
			MaxTotal: 1,
			FSConfig: wazero.NewFSConfig(), // without it the module can access the whole file system
			Stdout:   io.Discard, Stderr: io.Discard,
			RuntimeConfig: wazero.NewRuntimeConfig().WithCompilationCache(cache).WithCloseOnContextDone(true).
				WithDebugInfoEnabled(false),
		})
		return err
	})
	if err != nil {
		return compiled{}, errors.Join(fmt.Errorf("reader of PDF: %w", err), cache.Close(context.Background()))
	}
	c := compiled{pool: pool, cache: cache}
	var found [2]bool
	c.runtime, found[0] = hiddenField[wazero.Runtime](pool, "runtime")
	c.module, found[1] = hiddenField[wazero.CompiledModule](pool, "compiledModule")
	if !found[0] || !found[1] {
		err = errors.New("reader of PDF: this go-pdfium does not show its runtime")
		return compiled{}, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *compiled) close() error {
	return errors.Join(c.pool.Close(), c.cache.Close(context.Background()))
}

// hiddenField returns an unexported field of the struct that v points to. go-pdfium compiles the
// module and provides its imports, but calls its own instances without a context, so a file that
// loops could not be stopped, and their memory is copied whenever it grows.
func hiddenField[T any](v any, name string) (field T, ok bool) {
	s := reflect.Indirect(reflect.ValueOf(v))
	if s.Kind() != reflect.Struct || !s.CanAddr() {
		return field, false
	}
	f := s.FieldByName(name)
	if !f.IsValid() {
		return field, false
	}
	field, ok = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Interface().(T)
	return field, ok
}

func (p *pdfReader) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.pdfium.pool == nil {
		return nil
	}
	c := p.pdfium
	p.pdfium = compiled{}
	return c.close()
}
