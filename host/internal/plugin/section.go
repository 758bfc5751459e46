package plugin

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Names of the custom sections of a plugin file.
const (
	ManifestSection  = "easel.manifest"
	IconSection      = "easel.icon"
	I18nSection      = "easel.i18n"
	CasesSection     = "easel.cases"
	HTTPSection      = "easel.http"
	SignatureSection = "easel.signature"
)

// ownPrefix begins the names of the sections that hold data of a plugin, not code.
const ownPrefix = "easel."

// maxOwnSection bounds a section that a plugin can read, in bytes.
const maxOwnSection = 256 << 10

// customSection is one custom section; start is where its header begins.
type customSection struct {
	name       string
	payload    []byte
	start, end int
}

// customSections lists the custom sections of a module without reading the rest.
func customSections(wasm []byte) ([]customSection, error) {
	if len(wasm) < 8 || string(wasm[:4]) != "\x00asm" {
		return nil, fail(Malformed, "no WebAssembly header")
	}
	var out []customSection
	for pos := 8; pos < len(wasm); {
		start, id := pos, wasm[pos]
		size, n := binary.Uvarint(wasm[pos+1:])
		if n <= 0 || size > uint64(len(wasm)-pos-1-n) {
			return nil, fail(Malformed, "section at byte %d is cut short", start)
		}
		body := pos + 1 + n
		pos = body + int(size)
		if id != 0 {
			continue
		}
		length, n := binary.Uvarint(wasm[body:pos])
		if n <= 0 || length > uint64(pos-body-n) {
			return nil, fail(Malformed, "custom section at byte %d has a broken name", start)
		}
		from := body + n + int(length)
		out = append(out, customSection{name: string(wasm[body+n : from]), payload: wasm[from:pos], start: start, end: pos})
	}
	return out, nil
}

// Section returns the payload of the custom section name, and whether there is
// one. Two sections of one name are an error.
func Section(wasm []byte, name string) ([]byte, bool, error) {
	all, err := customSections(wasm)
	if err != nil {
		return nil, false, err
	}
	var found []byte
	ok := false
	for _, s := range all {
		if s.name != name {
			continue
		}
		if ok {
			return nil, false, fail(Malformed, "section %s stands twice", name)
		}
		found, ok = s.payload, true
	}
	return found, ok, nil
}

// WithSection returns wasm with the custom section name replaced, or added at the
// end; a nil payload only removes it. A signature is removed with any change.
func WithSection(wasm []byte, name string, payload []byte) ([]byte, error) {
	all, err := customSections(wasm)
	if err != nil {
		return nil, fmt.Errorf("plugin: write section %s: %w", name, err)
	}
	out := make([]byte, 0, len(wasm)+len(name)+len(payload)+16)
	from := 0
	for _, s := range all {
		if s.name == name || s.name == SignatureSection {
			out = append(out, wasm[from:s.start]...)
			from = s.end
		}
	}
	out = append(out, wasm[from:]...)
	if payload == nil {
		return out, nil
	}
	head := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	out = binary.AppendUvarint(append(out, 0), uint64(len(head)+len(payload)))
	return append(append(out, head...), payload...), nil
}

// ownSections are the sections of a plugin that it can read itself: those whose names begin with
// easel., without its icon, cases and signature and those over maxOwnSection.
func ownSections(wasm []byte) (map[string]string, error) {
	all, err := customSections(wasm)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, s := range all {
		hidden := s.name == IconSection || s.name == CasesSection || s.name == SignatureSection
		if !strings.HasPrefix(s.name, ownPrefix) || hidden || len(s.payload) > maxOwnSection {
			continue
		}
		if _, ok := out[s.name]; ok {
			return nil, fail(Malformed, "section %s stands twice", s.name)
		}
		out[s.name] = string(s.payload)
	}
	return out, nil
}

// withoutOwn is a module without the sections that hold a plugin's data, so that plugins of the
// same code share what is compiled.
func withoutOwn(wasm []byte) ([]byte, error) {
	all, err := customSections(wasm)
	if err != nil {
		return nil, err
	}
	out, from := make([]byte, 0, len(wasm)), 0
	for _, s := range all {
		if strings.HasPrefix(s.name, ownPrefix) {
			out = append(out, wasm[from:s.start]...)
			from = s.end
		}
	}
	return append(out, wasm[from:]...), nil
}

// sectionOp is self.section: a section of the plugin's own file.
func sectionOp(g *guest, a struct {
	Name string `json:"name"`
},
) (any, *Error) {
	text, found := g.m.sections[a.Name]
	return struct {
		Found bool   `json:"found"`
		Text  string `json:"text"`
	}{found, text}, nil
}
