package main

import (
	"encoding/base64"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/meter"
)

// meterCodes are the codes of the contract for what the meter refuses.
var meterCodes = []struct {
	err  error
	code string
}{
	{meter.ErrForged, "forged"}, {meter.ErrUnsupported, "unsupported"}, {meter.ErrLimit, "over_limit"},
}

// meter rewrites a module, which comes and goes in base64, so that it can be stopped and counted,
// and says what it imports and exports. Function types are written with one letter per value: (i32
// i64) -> i32 is iI:i.
func (b *bridge) meter(header engine.Value, body string) ([]byte, error) {
	wasm, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return nil, &failure{code: codeRequest, text: "module: " + err.Error()}
	}
	shape, err := meter.Inspect(wasm)
	if err != nil {
		return nil, meterFailure(err)
	}
	pages, _ := header.Get("pages").Int()
	metered, err := meter.Rewrite(wasm, meter.Limits{Pages: uint32(pages)})
	if err != nil {
		return nil, meterFailure(err)
	}
	imports, exports := engine.List(), engine.List()
	for _, i := range shape.Imports {
		imports = imports.Append(engine.Strings(i.Module, i.Name, i.Kind.String(), letters(i.Type)))
	}
	for _, e := range shape.Exports {
		exports = exports.Append(engine.Strings(e.Name, e.Kind.String(), letters(e.Type)))
	}
	answer := engine.Object("version", meter.Version, "imports", imports, "exports", exports, "memory", shape.Memory != nil).AppendJSON(nil)
	return base64.StdEncoding.AppendEncode(append(answer, '\n'), metered), nil
}

func meterFailure(err error) error {
	for _, c := range meterCodes {
		if errors.Is(err, c.err) {
			return &failure{code: c.code, text: err.Error()}
		}
	}
	return &failure{code: "malformed", text: err.Error()}
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
