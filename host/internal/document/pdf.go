package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// pdfReader reads PDF by pdfium, compiled to WebAssembly. The module is compiled when the first PDF comes, and each
// file is read by an instance of its own, which takes 3 ms to make.
type pdfReader struct {
	mu     sync.Mutex
	pool   pdfium.Pool
	cache  wazero.CompilationCache
	closed bool
}

var errClosed = errors.New("the reader of documents is closed")

func (p *pdfReader) text(ctx context.Context, limits *Limits, data []byte) (string, error) {
	if len(data) == 0 {
		return "", fmt.Errorf("%w: the file is empty", ErrDamaged)
	}
	p.mu.Lock()
	pool := p.pool
	p.mu.Unlock()
	if pool == nil {
		return "", errClosed
	}
	instance, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return "", fmt.Errorf("reader of PDF: %w", err)
	}
	defer instance.Close() // the memory it had is gone, whatever it answers
	s, err := newPDF(ctx, limits, instance)
	if err != nil {
		return "", err
	}
	return s.text(data)
}

// open compiles pdfium, or loads it from the cache. A failure is not kept: the next PDF tries again.
func (p *pdfReader) open(limits *Limits, cacheDir string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	if p.pool != nil {
		return nil
	}
	pool, cache, err := compile(limits, cacheDir)
	if err != nil && cacheDir != "" {
		pool, cache, err = compile(limits, "") // a full or read-only disk is no reason to read no PDF
	}
	p.pool, p.cache = pool, cache
	return err
}

func compile(limits *Limits, cacheDir string) (pdfium.Pool, wazero.CompilationCache, error) {
	cache, err := openCache(cacheDir)
	if err != nil {
		return nil, nil, fmt.Errorf("reader of PDF: %w", err)
	}
	const page = 64 << 10
	pool, err := webassembly.Init(webassembly.Config{
		MaxTotal: limits.PDFs,
		FSConfig: wazero.NewFSConfig(), // otherwise it sees the whole disk
		Stdout:   io.Discard, Stderr: io.Discard,
		RuntimeConfig: wazero.NewRuntimeConfig().WithCompilationCache(cache).WithCloseOnContextDone(true).
			WithMemoryLimitPages(uint32(limits.Memory / page)).WithDebugInfoEnabled(false),
	})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("reader of PDF: %w", err), cache.Close(context.Background()))
	}
	return pool, cache, nil
}

func openCache(dir string) (wazero.CompilationCache, error) {
	if dir == "" {
		return wazero.NewCompilationCache(), nil
	}
	// What lies there is run as machine code.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return wazero.NewCompilationCacheWithDir(dir)
}

func (p *pdfReader) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.pool == nil {
		return nil
	}
	pool := p.pool
	p.pool = nil
	return errors.Join(pool.Close(), p.cache.Close(context.Background()))
}

// moduleOf is the module behind an instance. go-pdfium makes it and gives it the functions it imports, but calls it
// without a context, so that nothing could stop a file that makes it hang; calls of the module itself can be stopped.
// The field is public, its type is not.
func moduleOf(instance pdfium.Pdfium) (api.Module, error) {
	v := reflect.Indirect(reflect.ValueOf(instance.GetImplementation()))
	if v.Kind() == reflect.Struct {
		if f := v.FieldByName("Module"); f.IsValid() {
			if m, ok := f.Interface().(api.Module); ok {
				return m, nil
			}
		}
	}
	return nil, errors.New("reader of PDF: this go-pdfium does not show its module")
}
