package main

import (
	"encoding/base64"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// examine reads the file of a plugin in base64: it checks the manifest, reduces the requested
// permissions to those granted by the header, and tightens the limits. The answer is a line
// {limits, granted}, and a line with the manifest. With "meter" the first line also lists the
// imports and exports of the module, and the third is the module in base64, rewritten so that it
// can be stopped and counted.
func (b *bridge) examine(header engine.Value, body string) ([]byte, error) {
	wasm, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return nil, &failure{code: codeRequest, text: "module: " + err.Error()}
	}
	text, m, err := fileManifest(wasm, header.Get("version").Str())
	if err != nil {
		return nil, refusal(err)
	}
	ceiling, err := contract.ReadLimits(header.Get("limits"))
	if err != nil {
		return nil, &failure{code: codeRequest, text: err.Error()}
	}
	limits := m.Limits.Effective(ceiling)
	granted, err := grant(m, header.Get("grant"))
	if err != nil {
		return nil, err
	}
	about := engine.Object("limits", limits.Value(), "granted", granted.Value())
	var metered []byte
	if header.Get("meter").True() {
		if about, metered, err = meterModule(about, wasm, uint32(limits.MemoryMB)<<4); err != nil {
			return nil, refusal(meterError(err))
		}
	}
	answer := append(about.AppendJSON(nil), '\n')
	answer = append(text.AppendJSON(answer), '\n')
	return base64.StdEncoding.AppendEncode(answer, metered), nil
}

// fileManifest returns the manifest in the file of a plugin that runs on a host of this version, as
// text and parsed.
func fileManifest(wasm []byte, version string) (text engine.Value, m *contract.Manifest, err error) {
	raw, err := contract.ManifestOf(wasm)
	if err != nil {
		return text, nil, err
	}
	if text, err = contract.ParseText(raw); err != nil {
		return text, nil, err
	}
	if m, err = contract.ReadManifest(text); err != nil {
		return text, nil, err
	}
	return text, m, m.CheckHost(version)
}

// grant returns the permissions of a plugin: "asked" grants those of its manifest, permissions are
// an upper bound, and an absent grant allows nothing.
func grant(m *contract.Manifest, given engine.Value) (contract.Permissions, error) {
	if given.Str() == "asked" {
		return m.Permissions, nil
	}
	ceiling, err := contract.ReadPermissions(given)
	if err != nil {
		return contract.Permissions{}, &failure{code: codeRequest, text: "grant: " + err.Error()}
	}
	return m.Permissions.Cut(ceiling), nil
}

// meterModule rewrites a module whose memory may have so many pages, and adds its imports and
// exports to about. Function types are written with one letter per value: (i32 i64) -> i32 is iI:i.
func meterModule(about engine.Value, wasm []byte, pages uint32) (engine.Value, []byte, error) {
	shape, err := meter.Inspect(wasm)
	if err != nil {
		return engine.Null, nil, err
	}
	metered, err := meter.Rewrite(wasm, meter.Limits{Pages: pages})
	if err != nil {
		return engine.Null, nil, err
	}
	imports, exports := engine.List(), engine.List()
	for _, i := range shape.Imports {
		imports = imports.Append(engine.Strings(i.Module, i.Name, i.Kind.String(), letters(i.Type)))
	}
	for _, e := range shape.Exports {
		exports = exports.Append(engine.Strings(e.Name, e.Kind.String(), letters(e.Type)))
	}
	about = about.With("meter", engine.Int(meter.Version)).With("imports", imports).With("exports", exports)
	return about.With("memory", engine.Bool(shape.Memory != nil)), metered, nil
}

// refusal returns an error of the contract as the answer to a request, without the file name, which
// the host has.
func refusal(err error) error {
	var e *contract.Error
	if errors.As(err, &e) {
		return &failure{code: string(e.Code), text: e.Message}
	}
	return err
}

// meterError adds the code to an error of the meter.
func meterError(err error) error {
	code := contract.Malformed
	switch {
	case errors.Is(err, meter.ErrForged):
		code = contract.Forged
	case errors.Is(err, meter.ErrUnsupported):
		code = contract.Unsupported
	case errors.Is(err, meter.ErrLimit):
		code = contract.OverLimit
	}
	return contract.Errorf(code, "%v", err)
}

// letters writes the type of a function.
func letters(t meter.FuncType) string {
	words := make([]byte, 0, len(t.Params)+len(t.Results)+1)
	add := func(types []byte) {
		for _, v := range types {
			switch v {
			case 0x7f:
				words = append(words, 'i')
			case 0x7e:
				words = append(words, 'I')
			case 0x7d:
				words = append(words, 'f')
			default:
				words = append(words, 'F')
			}
		}
	}
	add(t.Params)
	words = append(words, ':')
	add(t.Results)
	return string(words)
}
