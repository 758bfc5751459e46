package store

import (
	"slices"
	"strings"
	"sync"
)

// keyMemory caches API keys with the groups of their users, since every request presents one. The
// whole cache is cleared after a commit of a statement that names one of these tables, before the
// writer gets its result: a revoked key is rejected from then on. This requires that all writes
// pass through one [group], which is the case for SQLite, whose keys no other process writes while
// a host runs. PostgreSQL has other hosts: there the cache is nil and always misses.
type keyMemory struct {
	mu     sync.Mutex
	byHash map[string]Key
	age    int // how often the cache was cleared
}

// mostKeys bounds the cache, which is cleared when full.
const mostKeys = 1024

// namesKeys reports whether a statement may change keys or the groups of users.
func namesKeys(query string) bool {
	return strings.Contains(query, "keys") || strings.Contains(query, "user_groups")
}

// get returns a cached key, or the age to pass to put after reading the key.
func (m *keyMemory) get(hash []byte) (k Key, known bool, age int) {
	if m == nil {
		return Key{}, false, 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k, known = m.byHash[string(hash)]
	k.Scopes = slices.Clone(k.Scopes)
	return k, known, m.age
}

// put caches a key that was read at age, unless the cache was cleared since.
func (m *keyMemory) put(hash []byte, k Key, age int) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if age != m.age {
		return
	}
	if m.byHash == nil || len(m.byHash) >= mostKeys {
		m.byHash = map[string]Key{}
	}
	k.Scopes = slices.Clone(k.Scopes)
	m.byHash[string(hash)] = k
}

func (m *keyMemory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byHash = nil
	m.age++
}
