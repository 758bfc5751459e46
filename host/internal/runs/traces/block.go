package traces

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// blockKey names the runs that a block may have together.
type blockKey struct{ tenant, canvas string }

// docKey names a document.
type docKey struct{ tenant, hash string }

// block is a block to which runs are added.
type block struct {
	blockKey
	since       time.Time
	raw         []byte
	index       []byte // of the runs
	heads       []byte // lines, see headLine
	runs        []string
	docs        map[string][]byte // by hash
	first, last int64
}

// entry is a run in the index of a block.
type entry struct {
	run string
	at  int // offset in the block before compression
}

// entriesOf reads the index of a block: lines with a run and its offset.
func entriesOf(index []byte) (out []entry) {
	for text := range strings.Lines(string(index)) {
		run, at, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		n, err := strconv.Atoi(at)
		if err == nil && n >= 0 {
			out = append(out, entry{run, n})
		}
	}
	return out
}

// dayOf returns the day of a time, as blocks have it.
func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// add adds a run to the open block of its canvas.
func (t *Traces) add(ctx context.Context, e runs.Ended) {
	if len(e.Records) == 0 || e.Records[0].Kind != runs.KindDocument {
		t.cfg.Logger.Warn("run has no trace: its log does not begin with its document", "run", e.Run)
		t.lost.Add(1)
		t.done(e.Run)
		return
	}
	key := blockKey{e.Tenant, e.Canvas}
	b := t.open[key]
	if b == nil {
		b = &block{blockKey: key, since: t.cfg.Now(), docs: map[string][]byte{}, first: e.Time}
		t.open[key] = b
	}
	doc := e.Records[0].Data
	sum := sha256.Sum256(doc)
	h := Header{
		Run: e.Run, Canvas: e.Canvas, Doc: hex.EncodeToString(sum[:]), Engine: t.cfg.Version, Ended: e.Time,
	}
	at := len(b.raw)
	raw, err := Encode(b.raw, h, e.Records)
	if err != nil {
		t.cfg.Logger.Error("trace of a run cannot be encoded", "run", e.Run, "err", err)
		t.done(e.Run)
		return
	}
	b.raw = raw
	b.index = fmt.Appendf(b.index, "%s %d\n", e.Run, at)
	b.heads = appendHead(b.heads, e.Run, headOf(e.Records))
	b.runs, b.docs[h.Doc] = append(b.runs, e.Run), doc
	b.first, b.last = min(b.first, e.Time), max(b.last, e.Time)
	if len(b.raw) >= blockBytes {
		t.close(ctx, b)
	}
}

// flush closes the blocks that are old enough, or all.
func (t *Traces) flush(ctx context.Context, all bool) {
	now := t.cfg.Now()
	for _, b := range t.open {
		if all || now.Sub(b.since) >= t.cfg.flush {
			t.close(ctx, b)
		}
	}
}

// close stores a block. Runs of one that cannot be stored are read from the log again.
func (t *Traces) close(ctx context.Context, b *block) {
	delete(t.open, b.blockKey)
	if err := t.write(ctx, b); err != nil {
		t.cfg.Logger.Warn("traces are not stored yet", "canvas", b.canvas, "runs", len(b.runs), "err", err)
		for _, run := range b.runs {
			t.release(run)
		}
		return
	}
	t.stored.Add(int64(len(b.runs)))
	for _, run := range b.runs {
		t.done(run)
	}
}

// write stores the bytes of a block, and then its entry in the index.
func (t *Traces) write(ctx context.Context, b *block) error {
	seal, err := t.seal.of(ctx, b.tenant)
	if err != nil {
		return err
	}
	row := store.TraceBlock{
		ID: store.NewID(), Tenant: b.tenant, Canvas: b.canvas, Day: dayOf(t.cfg.Now()), RawSize: int64(len(b.raw)),
		Runs: b.index, FirstEnd: b.first, LastEnd: b.last,
	}
	row.Heads = seal.Seal(nil, nil, pack(b.heads), headsPlace(row))
	body := seal.Seal(nil, nil, pack(b.raw), blockPlace(row))
	p, err := t.cfg.Bytes.Append(ctx, row.Tenant, row.Day, body)
	if err != nil {
		return err
	}
	row.Place, row.At, row.Size = p.Name, p.At, p.Size
	err = t.cfg.Store.Traces.Add(ctx, row, t.newDocs(b, seal, false))
	if errors.Is(err, store.ErrNotFound) { // a document was deleted since it was last used
		err = t.cfg.Store.Traces.Add(ctx, row, t.newDocs(b, seal, true))
	}
	if err != nil {
		return errors.Join(err, t.cfg.Bytes.Delete(ctx, p))
	}
	t.know(b)
	return nil
}

// newDocs returns the documents of a block, with their bodies as far as these are not known to be
// stored, or all.
func (t *Traces) newDocs(b *block, seal cipher.AEAD, all bool) (out []store.TraceDoc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for hash, doc := range b.docs {
		d := store.TraceDoc{Hash: hash}
		if all || !t.docs[docKey{b.tenant, hash}] {
			d.Body = seal.Seal(nil, nil, pack(doc), docPlace(b.tenant, hash))
		}
		out = append(out, d)
	}
	return out
}

// mostKnownDocs bounds the documents that are known to be stored.
const mostKnownDocs = 10_000

func (t *Traces) know(b *block) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.docs) > mostKnownDocs {
		clear(t.docs)
	}
	for hash := range b.docs {
		t.docs[docKey{b.tenant, hash}] = true
	}
}

// The places of sealed bytes are authenticated: bytes that were moved elsewhere do not open.
func blockPlace(b store.TraceBlock) []byte {
	return []byte("trace\x00" + b.Tenant + "\x00" + b.ID + "\x00" + b.Day)
}

func headsPlace(b store.TraceBlock) []byte {
	return []byte("trace heads\x00" + b.Tenant + "\x00" + b.ID)
}

func docPlace(tenant, hash string) []byte {
	return []byte("traced document\x00" + tenant + "\x00" + hash)
}

var (
	packer = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	})
	unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostRaw))
	})
)

// mostRaw bounds a block before compression: that of the largest run.
const mostRaw = 1 << 30

func pack(raw []byte) []byte {
	w, err := packer()
	if err != nil {
		panic(err) // the options are constants
	}
	return w.EncodeAll(raw, make([]byte, 0, len(raw)/4))
}

func unpack(packed []byte) ([]byte, error) {
	r, err := unpacker()
	if err != nil {
		panic(err) // the options are constants
	}
	raw, err := r.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return raw, nil
}

// seals has the keys of tenants, each an item that the key file of the host seals.
type seals struct {
	items store.Items

	mu   sync.Mutex
	keys map[string]cipher.AEAD
}

const keyKind, keyID = "trace_key", "key"

// of returns the key of a tenant, which is made at its first use.
func (s *seals) of(ctx context.Context, tenant string) (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.keys[tenant]; known != nil {
		return known, nil
	}
	item, err := s.items.Get(ctx, tenant, keyKind, keyID)
	if errors.Is(err, store.ErrNotFound) {
		item, err = s.make(ctx, tenant)
	}
	if err != nil {
		return nil, err
	}
	c, err := aes.NewCipher(item.Secret)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCMWithRandomNonce(c)
	if err != nil {
		return nil, err
	}
	if s.keys == nil {
		s.keys = map[string]cipher.AEAD{}
	}
	s.keys[tenant] = seal
	return seal, nil
}

func (s *seals) make(ctx context.Context, tenant string) (store.Item, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails since Go 1.24
	item := store.Item{Tenant: tenant, Kind: keyKind, ID: keyID, Name: keyID, Doc: []byte("{}"), Secret: key}
	made, err := s.items.Put(ctx, item)
	if errors.Is(err, store.ErrExists) { // another host was faster
		return s.items.Get(ctx, tenant, keyKind, keyID)
	}
	return made, err
}

// forget drops the key of a deleted tenant.
func (s *seals) forget(tenant string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, tenant)
}

// slice returns the part of a block that has a run; ok is false if it has not.
func slice(raw, index []byte, run string) (trace []byte, ok bool) {
	entries := entriesOf(index)
	for i, e := range entries {
		if e.run != run {
			continue
		}
		end := len(raw)
		if i+1 < len(entries) {
			end = entries[i+1].at
		}
		if e.at > end || end > len(raw) {
			return nil, false
		}
		return bytes.Clone(raw[e.at:end]), true
	}
	return nil, false
}
