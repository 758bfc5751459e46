package store

import (
	"slices"
	"strings"
	"sync"
)

// keyMemory is the API keys as they were read last: every request presents one.
// All are forgotten when a statement that names their table has been committed,
// before whoever sent it is answered, so a key that was taken away is of no use
// from then on. That holds where all writes pass one [group]: for a file, whose
// tables of keys no other process writes while a host has it. PostgreSQL has
// other hosts, and there the memory is nil and knows nothing.
type keyMemory struct {
	mu     sync.Mutex
	byHash map[string]Key
	age    int // how often everything was forgotten
}

// mostKeys bounds the memory; when it is full it is emptied.
const mostKeys = 1024

// namesKeys says whether a statement may change keys.
func namesKeys(query string) bool { return strings.Contains(query, "keys") }

// get gives a key, or the age to put it with when it has been read.
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

// put keeps what was read since age, unless something was forgotten meanwhile.
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
