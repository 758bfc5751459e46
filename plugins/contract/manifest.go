package contract

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
)

// maxManifest limits a manifest, in bytes.
const maxManifest = 256 << 10

// Manifest is the manifest of a plugin; the contract describes the members.
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
	Settings    *Schema // set by a tenant once for all nodes; never secrets
	Streams     bool
	Idempotent  bool
	State       State
	Permissions Permissions
	Limits      Limits
	Requires    []string
	Preview     Preview
	Entry       *Entry      // nil: the plugin speaks the messages of the contract
	Trigger     TriggerKind // "": canvases call the plugin, else it begins runs
	// Components are set for a file with several, which is not a component itself. Each inherits
	// the name, version, settings, permissions and limits of the file, and members that it leaves
	// out.
	Components []*Manifest
	Component  string // name of a component in such a file
	Node       string // its name in canvases, see NodeName
	Invoke     string // export that runs a component; "" is easel_invoke
}

// State determines which calls may share an instance.
type State string

// The states. The empty State is StateNone.
const (
	StateNone   State = "none"   // no state between calls: new instances where they are cheap
	StateTenant State = "tenant" // calls of one tenant may share an instance
	StateRun    State = "run"    // the calls of one run share one instance
)

// Preview is the place where a plugin runs in the preview of a canvas.
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
	v, err := ParseText(raw)
	if err != nil {
		return nil, err
	}
	m, err := ReadManifest(v)
	if err != nil {
		return nil, err
	}
	if err := m.checkComponents(v); err != nil {
		return nil, err.At(m.Name, "")
	}
	return m, nil
}

// ParseText parses the JSON of a manifest within its bound.
func ParseText(raw []byte) (engine.Value, error) {
	if len(raw) > maxManifest {
		return engine.Null, Errorf(BadManifest, "manifest of %d bytes, allowed are %d", len(raw), maxManifest)
	}
	v, err := engine.ParseJSON(raw)
	if err != nil {
		return engine.Null, Errorf(BadManifest, "manifest is not readable: %v", err)
	}
	return v, nil
}

// ReadManifest is ParseManifest for JSON that is parsed already. It leaves the components of a file
// unchecked.
func ReadManifest(v engine.Value) (*Manifest, error) {
	m, err := readManifest(v)
	m.Invoke = "" // a member of components
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
	if c, found := hiddenIn(v); found {
		kind := "character"
		if unicode.IsControl(c) {
			kind = "control character"
		}
		return nil, Errorf(BadManifest, "a text holds the %s %U, which people cannot see", kind, c).At(m.Name, "")
	}
	return m, nil
}

// readManifest reads the members without checking their values. It returns the manifest also with
// an error.
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
		Trigger: TriggerKind(o.text("trigger")), Invoke: o.text("export"),
	}
	if display := o.object("display"); display != nil {
		m.Display = make(map[string]string, display.v.Len())
		for i := range display.v.Len() {
			locale := display.v.Key(i)
			m.Display[locale] = display.text(locale)
		}
	}
	if p := o.object("permissions"); p != nil {
		m.Permissions = readPermissions(p)
	}
	if e := o.object("entry"); e != nil {
		m.Entry = readEntry(e)
	}
	if l := o.object("limits"); l != nil {
		m.Limits = readLimits(l)
	}
	schemas := schemaReader{left: maxSchemas}
	for _, s := range m.schemas() {
		if err == nil {
			*s.at, err = schemas.read(s.name, v.Get(s.name), 0)
		}
	}
	if err == nil {
		err = m.readComponents(v)
	}
	return m, err
}

// namedSchema is a schema of a manifest.
type namedSchema struct {
	name string
	at   **Schema
}

func (m *Manifest) schemas() [4]namedSchema {
	return [...]namedSchema{
		{"params", &m.Params}, {"arguments", &m.Arguments}, {"outputs", &m.Outputs}, {"settings", &m.Settings},
	}
}

// Check returns an *Error if the manifest is invalid.
func (m *Manifest) Check() error {
	if err := m.check(); err != nil {
		return err.At(m.Name, "")
	}
	return nil
}

// check is Check without the components.
func (m *Manifest) check() *Error {
	err := m.checkIdentity()
	if err == nil {
		err = m.checkChoices()
	}
	if err == nil {
		err = m.checkEntry()
	}
	if err == nil {
		err = m.checkSchemas()
	}
	if err == nil {
		err = m.checkPermissions()
	}
	return err
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
	for _, c := range [...]struct{ name, value, choices string }{
		{"state", string(m.State), "none, tenant, run"},
		{"preview", string(m.Preview), "local, server, none"},
		{"trigger", string(m.Trigger), "poll, webhook"},
	} {
		if c.value != "" && !slices.Contains(strings.Split(c.choices, ", "), c.value) {
			return Errorf(BadManifest, "%s %q: want one of %s", c.name, short(c.value), c.choices)
		}
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
	for _, s := range m.schemas() {
		if *s.at != nil && !slices.Equal((*s.at).types, []string{"object"}) {
			return Errorf(BadManifest, "%s: want a schema of type object", s.name)
		}
	}
	return nil
}

// checkPermissions requires a reason for each permission, for the person who grants it.
func (m *Manifest) checkPermissions() *Error {
	var err *Error
	check := func(name, reason string, ok bool, want string) {
		switch {
		case err != nil:
		case !ok:
			err = Errorf(BadManifest, "permissions.%s: %s", short(name), want)
		case reason == "":
			const why = "permissions.%s has no reason; say in a sentence why the plugin needs it"
			err = Errorf(BadManifest, why, short(name))
		}
	}
	p := m.Permissions
	if p.HTTP != nil {
		check("http", p.HTTP.Reason, len(p.HTTP.Hosts) > 0, "hosts is empty; list the hosts, or * for any")
	}
	for _, name := range p.secretNames() {
		s := p.Secrets[name]
		check("secrets."+name, s.Reason, len(s.Hosts) > 0, "hosts is empty; a secret is bound to hosts")
	}
	if p.LLM != nil {
		check("llm", p.LLM.Reason, p.LLM.MaxCalls > 0, "max_calls: want at least 1")
	}
	if p.Embed != nil {
		check("embed", p.Embed.Reason, p.Embed.MaxCalls > 0, "max_calls: want at least 1")
	}
	if p.KV != nil {
		check("kv", p.KV.Reason, p.KV.Bytes > 0, "bytes: want at least 1")
	}
	if p.Variables != nil {
		check("variables", p.Variables.Reason, true, "")
	}
	if f := p.Files; f != nil {
		check("files", f.Reason, f.Read || f.WriteBytes > 0, "want read or write_bytes")
	}
	if p.Clock != nil {
		check("clock", p.Clock.Reason, p.Clock.Precise, "want precise")
	}
	return err
}

// Value writes the manifest: known members only, in a fixed order.
func (m *Manifest) Value() engine.Value {
	w := newWriter()
	w.whole("abi", int64(m.ABI))
	w.text("name", m.Name)
	w.text("version", m.Version)
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
	for _, s := range m.schemas() {
		w.value(s.name, (*s.at).Value())
	}
	w.flag("streams", m.Streams)
	w.flag("idempotent", m.Idempotent)
	w.text("state", string(m.State))
	w.object("permissions", m.Permissions.Value())
	w.object("limits", m.Limits.Value())
	w.texts("requires", m.Requires)
	w.text("preview", string(m.Preview))
	w.text("trigger", string(m.Trigger))
	w.object("entry", m.Entry.value())
	w.text("export", m.Invoke)
	w.object("components", m.componentValues())
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

// Major returns the part of the version before the first dot, which canvases name:
// plugin:weather@1.
func (m *Manifest) Major() string {
	major, _, _ := strings.Cut(m.Version, ".")
	return major
}
