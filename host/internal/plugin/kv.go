package plugin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

// ErrKVFull says that a value does not fit into the quota of a KV.
var ErrKVFull = errors.New("quota of keys and values is used up")

// maxKey bounds keys and variable names, in bytes.
const maxKey = 256

type keyArgs struct {
	Key   string  `json:"key"`
	Value *string `json:"value"`
}

// store runs f outside the guest, when kv is granted and offered.
func (g *guest) store(key string, f func(ctx context.Context, kv KV) (any, error)) (any, *Error) {
	switch {
	case g.grant.KV == nil:
		return nil, fail(Denied, "kv is not granted")
	case g.req.Services.KV == nil:
		return nil, fail(Unsupported, "this host keeps nothing for plugins")
	case key == "" || len(key) > maxKey:
		return nil, fail(InvalidArgument, "key of %d bytes, want 1 to %d", len(key), maxKey)
	}
	var out any
	var err error
	g.outside(func() {
		ctx, stop := g.hostContext()
		defer stop()
		out, err = f(ctx, g.req.Services.KV)
	})
	if errors.Is(err, ErrKVFull) {
		return nil, fail(Denied, "kv: more than the %d bytes granted", g.grant.KV.Bytes)
	}
	if err != nil {
		return nil, asError(err, Upstream)
	}
	return out, nil
}

func (g *guest) kvGet(a keyArgs) (any, *Error) {
	return g.store(a.Key, func(ctx context.Context, kv KV) (any, error) {
		value, found, err := kv.Get(ctx, a.Key)
		return map[string]any{"found": found, "value": value}, err
	})
}

func (g *guest) kvSet(a keyArgs) (any, *Error) {
	if a.Value == nil {
		return nil, fail(InvalidArgument, "kv.set: value is missing")
	}
	return g.store(a.Key, func(ctx context.Context, kv KV) (any, error) {
		return none{}, kv.Set(ctx, a.Key, a.Value, g.grant.KV.Bytes)
	})
}

func (g *guest) kvDelete(a keyArgs) (any, *Error) {
	return g.store(a.Key, func(ctx context.Context, kv KV) (any, error) {
		return none{}, kv.Set(ctx, a.Key, nil, g.grant.KV.Bytes)
	})
}

func (g *guest) kvList(a struct {
	Prefix string `json:"prefix"`
},
) (any, *Error) {
	return g.store("list", func(ctx context.Context, kv KV) (any, error) {
		keys, err := kv.List(ctx, a.Prefix)
		return map[string]any{"keys": keys}, err
	})
}

// MemoryKV is a KV in memory, for tests and for running a plugin by hand. The
// zero value is ready; it is safe for concurrent use.
type MemoryKV struct {
	mu     sync.Mutex
	values map[string]string
	size   int64
}

// Get returns the value of key.
func (kv *MemoryKV) Get(_ context.Context, key string) (string, bool, error) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	v, ok := kv.values[key]
	return v, ok, nil
}

// Set stores or, with nil, removes a value.
func (kv *MemoryKV) Set(_ context.Context, key string, value *string, quota int64) error {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	size := kv.size
	if old, ok := kv.values[key]; ok {
		size -= int64(len(key) + len(old))
	}
	if value == nil {
		delete(kv.values, key)
		kv.size = size
		return nil
	}
	if size += int64(len(key) + len(*value)); size > quota {
		return ErrKVFull
	}
	if kv.values == nil {
		kv.values = map[string]string{}
	}
	kv.values[key], kv.size = *value, size
	return nil
}

// List returns the keys that begin with prefix, sorted.
func (kv *MemoryKV) List(_ context.Context, prefix string) ([]string, error) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	out := []string{}
	for k := range kv.values {
		if strings.HasPrefix(k, prefix) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out, nil
}
