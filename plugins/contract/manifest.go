package contract

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
)

// maxManifest bounds a manifest, in bytes.
const maxManifest = 256 << 10

// Manifest is what a plugin says about itself; the contract describes the members.
type Manifest struct {
	ABI         int
	Name        string
	Version     string
	Display     map[string]string // locale -> name for people
	Category    string
	Icon        string // name of a section
	Description string
	License     string
	MinHost     string
	Params      *Schema
	Arguments   *Schema // nil: not a tool
	Outputs     *Schema
	Streams     bool
	Idempotent  bool
	State       State
	Permissions Permissions
	Limits      Limits
	Requires    []string
	Preview     Preview
}

// State says who may share an instance.
type State string

// The states. The empty State is StateNone.
const (
	StateNone   State = "none"   // nothing is kept: fresh instances where they are cheap
	StateTenant State = "tenant" // calls of one tenant may share an instance
	StateRun    State = "run"    // the calls of one run share one instance
)

// Preview says where a plugin runs while somebody tries a canvas out.
type Preview string

// The places. The empty Preview is PreviewLocal.
const (
	PreviewLocal  Preview = "local"  // in the page
	PreviewServer Preview = "server" // on a server only
	PreviewNone   Preview = "none"   // nowhere
)

// ParseManifest reads and checks a manifest. Errors are an *Error with the code BadManifest, or
// ABIMismatch for a plugin of another ABI.
func ParseManifest(raw []byte) (*Manifest, error) {
	if len(raw) > maxManifest {
		return nil, Errorf(BadManifest, "manifest of %d bytes, allowed are %d", len(raw), maxManifest)
	}
	v, err := engine.ParseJSON(raw)
	if err != nil {
		return nil, Errorf(BadManifest, "manifest is not readable: %v", err)
	}
	return ReadManifest(v)
}

// ReadManifest is ParseManifest for JSON that is parsed already.
func ReadManifest(v engine.Value) (*Manifest, error) {
	m, err := readManifest(v)
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			return nil, e
		}
		return nil, Errorf(BadManifest, "%v", err).At(m.Name, "")
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if hasControls(v) {
		e := Errorf(BadManifest, "a text holds a control character other than a tab or a line end")
		return nil, e.At(m.Name, "")
	}
	return m, nil
}

// readManifest reads the members without judging their values. It returns what it read beside an
// error, too.
func readManifest(v engine.Value) (*Manifest, error) {
	if v.Kind() != engine.KindObject {
		return &Manifest{}, fmt.Errorf("manifest: want object, got %s", typeName(v))
	}
	var err error
	o := readObject("", v, &err)
	m := &Manifest{
		ABI: int(o.whole("abi")), Name: o.text("name"), Version: o.text("version"), Category: o.text("category"),
		Icon: o.text("icon"), Description: o.text("description"), License: o.text("license"),
		MinHost: o.text("min_host"), Streams: o.flag("streams"), Idempotent: o.flag("idempotent"),
		State: State(o.text("state")), Requires: o.texts("requires"), Preview: Preview(o.text("preview")),
	}
	if display, ok := o.object("display"); ok && display.v.Len() > 0 {
		m.Display = make(map[string]string, display.v.Len())
		for locale := range display.v.Fields() {
			m.Display[locale] = display.text(locale)
		}
	}
	if p, ok := o.object("permissions"); ok {
		m.Permissions = readPermissions(p)
	}
	if l, ok := o.object("limits"); ok {
		m.Limits = readLimits(l)
	}
	schemas := schemaReader{left: maxSchemas}
	for name, s := range m.schemas() {
		read, schemaErr := schemas.read(name, v.Get(name), 0)
		if err == nil {
			err = schemaErr
		}
		*s = read
	}
	return m, err
}

// schemas yields the schemas of the manifest by their names, in a fixed order.
func (m *Manifest) schemas() func(yield func(string, **Schema) bool) {
	return func(yield func(string, **Schema) bool) {
		_ = yield("params", &m.Params) && yield("arguments", &m.Arguments) && yield("outputs", &m.Outputs)
	}
}

// Check returns what is wrong with a manifest, as an *Error.
func (m *Manifest) Check() error {
	for _, check := range [...]func() *Error{m.checkIdentity, m.checkChoices, m.checkSchemas, m.checkPermissions} {
		if err := check(); err != nil {
			return err.At(m.Name, "")
		}
	}
	return nil
}

func (m *Manifest) checkIdentity() *Error {
	switch {
	case m.ABI < 1:
		return Errorf(BadManifest, "abi is missing; write \"abi\": %d", ABI)
	case m.ABI != ABI:
		return Errorf(ABIMismatch,
			"made for ABI %d, this host serves ABI %d; use a newer host or build the plugin with "+
				"an older SDK", m.ABI, ABI)
	case !isName(m.Name):
		return Errorf(BadManifest, "name %q: want lower-case letters, digits, - and _, beginning with a letter",
			short(m.Name))
	case !isVersion(m.Version):
		return Errorf(BadManifest, "version %q: want three numbers, as in 1.0.0", short(m.Version))
	case m.Description == "":
		return Errorf(BadManifest, "description is missing")
	}
	return nil
}

func (m *Manifest) checkChoices() *Error {
	switch m.State {
	case "", StateNone, StateTenant, StateRun:
	default:
		return Errorf(BadManifest, "state %q: want none, tenant or run", short(string(m.State)))
	}
	switch m.Preview {
	case "", PreviewLocal, PreviewServer, PreviewNone:
	default:
		return Errorf(BadManifest, "preview %q: want local, server or none", short(string(m.Preview)))
	}
	if l := m.Limits; l.MemoryMB < 0 || l.TimeoutMS < 0 || l.OutputKB < 0 || l.Fuel < 0 {
		return Errorf(BadManifest, "limits must not be negative")
	}
	for _, r := range m.Requires {
		if _, ok := parseRequirement(r); !ok {
			return Errorf(BadManifest, "requires %q: want name@version, as in http.fetch@1", short(r))
		}
	}
	return nil
}

func (m *Manifest) checkSchemas() *Error {
	for name, s := range m.schemas() {
		if *s != nil && !slices.Equal((*s).types, []string{"object"}) {
			return Errorf(BadManifest, "%s: want a schema of type object", name)
		}
	}
	return nil
}

// checkPermissions requires a reason for each permission, for the person who grants it.
func (m *Manifest) checkPermissions() *Error {
	p := m.Permissions
	reasons := map[string]string{}
	if p.HTTP != nil {
		reasons["http"] = p.HTTP.Reason
		if len(p.HTTP.Hosts) == 0 {
			return Errorf(BadManifest, "permissions.http.hosts is empty; list the hosts, or * for any")
		}
	}
	for _, name := range p.secretNames() {
		reasons["secrets."+name] = p.Secrets[name].Reason
		if len(p.Secrets[name].Hosts) == 0 {
			return Errorf(BadManifest, "permissions.secrets.%s.hosts is empty; a secret is bound to hosts", short(name))
		}
	}
	for name, c := range map[string]*CountPermission{"llm": p.LLM, "embed": p.Embed} {
		if c == nil {
			continue
		}
		reasons[name] = c.Reason
		if c.MaxCalls < 1 {
			return Errorf(BadManifest, "permissions.%s.max_calls: want at least 1", name)
		}
	}
	if p.KV != nil {
		reasons["kv"] = p.KV.Reason
		if p.KV.Bytes < 1 {
			return Errorf(BadManifest, "permissions.kv.bytes: want at least 1")
		}
	}
	if p.Variables != nil {
		reasons["variables"] = p.Variables.Reason
	}
	for _, name := range stable.Strings(slices.Collect(maps.Keys(reasons))) {
		if reasons[name] == "" {
			const why = "permissions.%s has no reason; say in a sentence why the plugin needs it"
			return Errorf(BadManifest, why, short(name))
		}
	}
	return nil
}

// Value writes the manifest: known members only, in a fixed order.
func (m *Manifest) Value() engine.Value {
	w := newWriter()
	w.b.Set("abi", engine.Int(int64(m.ABI))).Set("name", engine.String(m.Name)).Set("version", engine.String(m.Version))
	display := newWriter()
	for _, locale := range stable.Strings(slices.Collect(maps.Keys(m.Display))) {
		display.b.Set(locale, engine.String(m.Display[locale]))
	}
	w.object("display", display.b.Value())
	w.text("category", m.Category)
	w.text("icon", m.Icon)
	w.b.Set("description", engine.String(m.Description))
	w.text("license", m.License)
	w.text("min_host", m.MinHost)
	for name, s := range m.schemas() {
		w.value(name, (*s).Value())
	}
	w.flag("streams", m.Streams)
	w.flag("idempotent", m.Idempotent)
	w.text("state", string(m.State))
	w.object("permissions", m.Permissions.Value())
	w.object("limits", m.Limits.Value())
	w.texts("requires", m.Requires)
	w.text("preview", string(m.Preview))
	return w.b.Value()
}

// MarshalJSON writes Value.
func (m *Manifest) MarshalJSON() ([]byte, error) { return m.Value().AppendJSON(nil), nil }

// UnmarshalJSON reads a manifest without checking it.
func (m *Manifest) UnmarshalJSON(raw []byte) error {
	v, err := engine.ParseJSON(raw)
	if err != nil {
		return err
	}
	read, err := readManifest(v)
	if err == nil {
		*m = *read
	}
	return err
}

// Major is the part of the version before the first point, which canvases name: plugin:weather@1.
func (m *Manifest) Major() string {
	major, _, _ := strings.Cut(m.Version, ".")
	return major
}

// hasControls reports whether a text in v holds control characters, which could disturb a terminal.
func hasControls(v engine.Value) bool {
	switch v.Kind() {
	case engine.KindString:
		return controls(v.Str())
	case engine.KindList:
		for _, e := range v.Elements() {
			if hasControls(e) {
				return true
			}
		}
	case engine.KindObject:
		for name, e := range v.Fields() {
			if controls(name) || hasControls(e) {
				return true
			}
		}
	}
	return false
}

func controls(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return (r < ' ' || r >= 0x7f && r <= 0x9f) && r != '\n' && r != '\t' && r != '\r'
	})
}
