package encoder

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

//go:embed all:dist
var dist embed.FS

// file has the weights, if the program was built with them.
const file = "dist/encoder.gz"

// idle is after how long without a text the weights of [Builtin] are released: about 30 MB.
const idle = 5 * time.Minute

// ErrNotBuilt means that the program was built without weights.
var ErrNotBuilt = errors.New("the program was built without the encoder (`make` builds it in)")

// Built reports whether the weights are part of the program.
func Built() bool {
	_, err := fs.Stat(dist, file)
	return err == nil
}

// Builtin is the encoder of the program. Its weights are in memory while they are used.
type Builtin struct {
	load func() (*Encoder, error)

	mutex   sync.Mutex
	encoder *Encoder
	uses    int
	release *time.Timer
}

// NewBuiltin returns the encoder of the program; [Built] reports whether there is one.
func NewBuiltin() *Builtin { return &Builtin{load: loadBuilt} }

func loadBuilt() (*Encoder, error) {
	data, err := dist.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotBuilt, err)
	}
	w, err := Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return New(w), nil
}

// Model returns [Name].
func (b *Builtin) Model() string { return Name }

// Embed returns vectors as [Encoder.Embed] does.
func (b *Builtin) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e, err := b.take()
	if err != nil {
		return nil, err
	}
	defer b.giveBack()
	return e.Embed(ctx, texts)
}

func (b *Builtin) take() (*Encoder, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.encoder == nil {
		e, err := b.load()
		if err != nil {
			return nil, err
		}
		b.encoder = e
	}
	b.uses++
	if b.release != nil {
		b.release.Stop()
	}
	return b.encoder, nil
}

func (b *Builtin) giveBack() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.uses--; b.uses == 0 {
		b.release = time.AfterFunc(idle, b.drop)
	}
}

func (b *Builtin) drop() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.uses == 0 {
		b.encoder = nil
	}
}
