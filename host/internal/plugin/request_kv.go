package plugin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// ErrKVFull means that a value exceeds the quota of a KV.
var ErrKVFull = errors.New("quota of keys and values is used up")

// maxKey bounds keys and variable names, in bytes.
const maxKey = 256

// store runs work on the store of the plugin, when kv is granted and offered.
func (r *requests) store(key string, work func(ctx context.Context, kv KV) error) error {
	kv, granted := r.g.req.Services.KV, r.g.grant.KV
	switch {
	case granted == nil:
		return contract.Errorf(contract.Denied, "kv is not granted")
	case kv == nil:
		return contract.Errorf(contract.Unsupported, "this host keeps nothing for plugins")
	case key == "" || len(key) > maxKey:
		return contract.Errorf(contract.InvalidArgument, "key of %d bytes, want 1 to %d", len(key), maxKey)
	}
	var err error
	r.outside(func(ctx context.Context) { err = work(ctx, kv) })
	if errors.Is(err, ErrKVFull) {
		return contract.Errorf(contract.Denied, "kv: more than the %d bytes granted", granted.Bytes)
	}
	return err
}

func (r *requests) kvGet(args engine.Value) (engine.Value, error) {
	key := args.Get("key").Str()
	var value string
	var found bool
	err := r.store(key, func(ctx context.Context, kv KV) (err error) {
		value, found, err = kv.Get(ctx, key)
		return err
	})
	return engine.Object("found", found, "value", value), err
}

func (r *requests) kvSet(args engine.Value) (engine.Value, error) {
	key := args.Get("key").Str()
	value, err := textOf("kv.set", args, "value")
	switch {
	case err != nil:
		return engine.Null, err
	case args.Get("value").IsNull():
		return engine.Null, contract.Errorf(contract.InvalidArgument, "kv.set: value is missing")
	}
	return engine.Object(), r.store(key, func(ctx context.Context, kv KV) error {
		return kv.Set(ctx, key, &value, r.g.grant.KV.Bytes)
	})
}

func (r *requests) kvDelete(args engine.Value) (engine.Value, error) {
	key := args.Get("key").Str()
	return engine.Object(), r.store(key, func(ctx context.Context, kv KV) error {
		return kv.Set(ctx, key, nil, r.g.grant.KV.Bytes)
	})
}

func (r *requests) kvList(args engine.Value) (engine.Value, error) {
	var keys []string
	err := r.store("list", func(ctx context.Context, kv KV) (err error) {
		keys, err = kv.List(ctx, args.Get("prefix").Str())
		return err
	})
	return engine.Object("keys", engine.Strings(keys...)), err
}

// MemoryKV is a KV in memory, for tests and for running a plugin manually. The zero value is ready;
// it is safe for concurrent use.
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
