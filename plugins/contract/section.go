package contract

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
	JSSection        = "easel.js"
	SignatureSection = "easel.signature"
)

// ownPrefix is the prefix of the names of sections with data of a plugin, not code.
const ownPrefix = "easel."

// maxSections limits the sections of a module, of any kind; plugins/meter has the same limit.
const maxSections = 1000

// maxOwnSection limits a section that a plugin can read, in bytes.
const maxOwnSection = 256 << 10

// CustomSection is one custom section of a module. Its header begins at Start.
type CustomSection struct {
	Name       string
	Payload    []byte
	Start, End int
}

// CustomSections lists the custom sections of a module without reading the rest. Its error is
// Malformed, OverLimit for too many sections, or Unsupported for a component of the component
// model.
func CustomSections(wasm []byte) ([]CustomSection, error) {
	if len(wasm) < 8 || string(wasm[:4]) != "\x00asm" {
		return nil, Errorf(Malformed, "no WebAssembly header")
	}
	if string(wasm[4:8]) == "\x0d\x00\x01\x00" {
		return nil, Errorf(Unsupported,
			"a component of the component model; core modules run here, such as Extism plugins")
	}
	var out []CustomSection
	count := 0
	for pos := 8; pos < len(wasm); {
		if count++; count > maxSections {
			return nil, Errorf(OverLimit, "more than %d sections", maxSections)
		}
		start, id := pos, wasm[pos]
		size, n := binary.Uvarint(wasm[pos+1:])
		if n <= 0 || size > uint64(len(wasm)-pos-1-n) {
			return nil, Errorf(Malformed, "section at byte %d is cut short", start)
		}
		body := pos + 1 + n
		pos = body + int(size)
		if id != 0 {
			continue
		}
		length, n := binary.Uvarint(wasm[body:pos])
		if n <= 0 || length > uint64(pos-body-n) {
			return nil, Errorf(Malformed, "custom section at byte %d has a broken name", start)
		}
		from := body + n + int(length)
		out = append(out, CustomSection{
			Name: string(wasm[body+n : from]), Payload: wasm[from:pos], Start: start,
			End: pos,
		})
	}
	return out, nil
}

// Section returns the payload of the custom section name and whether there is
// one. Two sections of one name are an error.
func Section(wasm []byte, name string) ([]byte, bool, error) {
	all, err := CustomSections(wasm)
	if err != nil {
		return nil, false, err
	}
	var found []byte
	ok := false
	for _, s := range all {
		if s.Name != name {
			continue
		}
		if ok {
			return nil, false, Errorf(Malformed, "section %s stands twice", name)
		}
		found, ok = s.Payload, true
	}
	return found, ok, nil
}

// ManifestOf returns the manifest section of a plugin file. Its error is BadManifest if there is
// none.
func ManifestOf(wasm []byte) ([]byte, error) {
	raw, ok, err := Section(wasm, ManifestSection)
	if err == nil && !ok {
		err = Errorf(BadManifest, "no section %s; write one with `easel plugin pack`", ManifestSection)
	}
	return raw, err
}

// WithSection returns wasm with the custom section name replaced, or added at the
// end; a nil payload only removes it. A signature is removed with any change.
func WithSection(wasm []byte, name string, payload []byte) ([]byte, error) {
	all, err := CustomSections(wasm)
	if err != nil {
		return nil, fmt.Errorf("plugin: write section %s: %w", name, err)
	}
	out := make([]byte, 0, len(wasm)+len(name)+len(payload)+16)
	from := 0
	for _, s := range all {
		if s.Name == name || s.Name == SignatureSection {
			out = append(out, wasm[from:s.Start]...)
			from = s.End
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

// OwnSections returns the sections that a plugin can read itself: those whose names start
// with easel., except icon, cases and signature, and sections over 256 KiB.
func OwnSections(wasm []byte) (map[string]string, error) {
	all, err := CustomSections(wasm)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, s := range all {
		hidden := s.Name == IconSection || s.Name == CasesSection || s.Name == SignatureSection
		if !strings.HasPrefix(s.Name, ownPrefix) || hidden || len(s.Payload) > maxOwnSection {
			continue
		}
		if _, ok := out[s.Name]; ok {
			return nil, Errorf(Malformed, "section %s stands twice", s.Name)
		}
		out[s.Name] = string(s.Payload)
	}
	return out, nil
}

// WithoutOwn returns a module without the sections with a plugin's data, so that plugins of
// the same code share their compiled form.
func WithoutOwn(wasm []byte) ([]byte, error) {
	all, err := CustomSections(wasm)
	if err != nil {
		return nil, err
	}
	out, from := make([]byte, 0, len(wasm)), 0
	for _, s := range all {
		if strings.HasPrefix(s.Name, ownPrefix) {
			out = append(out, wasm[from:s.Start]...)
			from = s.End
		}
	}
	return append(out, wasm[from:]...), nil
}
