package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// Module is a loaded plugin. It is safe for concurrent use.
type Module struct {
	host     *Host
	manifest *contract.Manifest
	digest   string // SHA-256 of the file, hex
	shape    meter.Shape
	limits   contract.Limits
	granted  contract.Permissions
	// decodeText converts the text of responses to UTF-8.
	decodeText bool
	settings   map[string]string
	sections   map[string]string // results of self.section, by name
	seal       *Seal
	signer     string // key of a valid signature, trusted or not
	warning    string
	runtime    wazero.Runtime // that runs compiled
	compiled   wazero.CompiledModule
	pool       *pool
	places     *gate // calls under way

	mu      sync.Mutex
	calls   int // under way
	pins    int // runs that continue with the module after it was replaced
	closed  bool
	revoked bool          // pins do not count
	idle    chan struct{} // closed when closed and neither a call nor a pin is left
}

// HowToSet returns instructions for a person to set a setting or secret of the plugin.
func HowToSet(m *Module, kind SettingKind, name string) string {
	return m.host.cfg.HowToSet(m.name(), kind, name)
}

// Manifest returns the manifest; do not change it.
func (m *Module) Manifest() *contract.Manifest { return m.manifest }

// Digest returns the SHA-256 of the plugin file, in hex.
func (m *Module) Digest() string { return m.digest }

// Granted returns the maximum permissions of the plugin; a call may cut them further.
func (m *Module) Granted() contract.Permissions { return m.granted }

// Limits returns the limits of each call.
func (m *Module) Limits() contract.Limits { return m.limits }

// Seal returns the trusted signature, or nil; Warning then has the reason.
func (m *Module) Seal() *Seal { return m.seal }

// Warning returns a problem of the signature for operators; empty without one.
func (m *Module) Warning() string { return m.warning }

// Has reports whether the plugin exports the function name.
func (m *Module) Has(name string) bool {
	_, ok := m.shape.Func(name)
	return ok
}

// sameManifest compares the answer of easel_describe with the manifest of the section.
func sameManifest(described []byte, manifest *contract.Manifest) error {
	said, err := contract.ParseManifest(described)
	if err != nil {
		return err
	}
	a, errA := json.Marshal(said)
	b, errB := json.Marshal(manifest)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		return contract.Errorf(contract.BadManifest,
			"the manifest of easel_describe differs from section %s; pack the plugin again with `easel plugin pack`",
			contract.ManifestSection)
	}
	return nil
}

// begin counts a call in, unless the module is closed.
func (m *Module) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed && (m.pins == 0 || m.revoked) {
		return false
	}
	m.calls++
	return true
}

// Pin lets a run call the module until Unpin, also after another version took its place. It returns
// false for a module that serves no more calls.
func (m *Module) Pin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.pins++
	return true
}

// Unpin ends a Pin.
func (m *Module) Unpin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pins--
	m.settle()
}

// Serves reports whether the module takes calls of a run that pinned it.
func (m *Module) Serves() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.revoked
}

// revoke ends all pins: the plugin was switched off or removed.
func (m *Module) revoke() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revoked = true
	m.settle()
}

// settle notifies Close that the module is no longer in use. The caller holds mu.
func (m *Module) settle() {
	if !m.closed || m.calls > 0 || m.pins > 0 && !m.revoked {
		return
	}
	select {
	case <-m.idle:
	default:
		close(m.idle)
	}
}

func (m *Module) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls--
	m.settle()
}

// Close refuses new calls, waits for those under way and frees the module. When
// ctx ends first, the rest happens when the last call is done.
func (m *Module) Close(ctx context.Context) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed, m.idle = true, make(chan struct{})
	m.settle()
	m.mu.Unlock()
	m.host.mu.Lock()
	delete(m.host.modules, m)
	m.host.mu.Unlock()
	select {
	case <-m.idle:
		return m.free()
	case <-ctx.Done():
		go func() {
			<-m.idle
			if err := m.free(); err != nil {
				m.host.cfg.Log.Warn("plugin was not freed", "plugin", m.manifest.Name, "err", err)
			}
		}()
		return ctx.Err()
	}
}

func (m *Module) free() error {
	m.pool.drain()
	return m.compiled.Close(context.Background())
}
