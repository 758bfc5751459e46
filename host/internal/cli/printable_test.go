package cli

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// hostileText has each kind of character that a terminal acts on, in UTF-8 and as bytes.
const hostileText = "a\x1b[2J\x1b]0;t\x07\u009b1m\x9b1m\u202eb\rc\r\nd"

const printedText = "a<U+001B>[2J<U+001B>]0;t<U+0007><U+009B>1m\uFFFD1m<U+202E>b<U+000D>c\nd"

func TestPrintableWriterJoinsWrites(t *testing.T) {
	for size := 1; size <= len(hostileText); size++ {
		var out bytes.Buffer
		w := &printableWriter{to: &out}
		for rest := hostileText; rest != ""; {
			n := min(size, len(rest))
			_, err := io.WriteString(w, rest[:n])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.Equal(t, printedText, out.String(), "writes of %d bytes", size)
	}
}

// clean fails if an output has a character that a terminal acts on.
func clean(t *testing.T, out string) {
	t.Helper()
	require.Equal(t, contract.Printable(out), out)
}

// shouting is a plugin whose log, progress, text and error have hostile characters.
func shouting(t *testing.T, fails bool) string {
	t.Helper()
	fault := ""
	if fails {
		fault = "i32.const 0 i32.const 18 call $error_write"
	}
	wasm := wattest.Must(`(module` + wattest.Imports + `
		(data (i32.const 0) "\1b]0;title\07\c2\9b1m\e2\80\ae\0d")
		(data (i32.const 100) "{\22pct\22:5,\22note\22:\22\\u001b[2J\\u202e\\r\22}")
		(data (i32.const 200) "{\22outputs\22:{\22text\22:\22\\u001b[2J\\u202e\\r\22}}")
		(func (export "easel_invoke") (result i32)
			i32.const 4 i32.const 0 i32.const 18 call $log
			i32.const 1 i32.const 100 i32.const 36 call $emit drop
			i32.const 0 i32.const 0 i32.const 18 call $emit drop
			` + fault + `
			i32.const 200 i32.const 40 call $output_write i32.const 0))`)
	wasm, err := contract.WithSection(wasm, contract.ManifestSection, []byte(strings.TrimSuffix(sampleManifest, "}")+
		`,"outputs":{"type":"object","properties":{"text":{"type":"string"}}}}`))
	require.NoError(t, err)
	return file(t, "x.wasm", string(wasm))
}

// Nothing that a plugin writes reaches a terminal or the log of the program as it is.
func TestPluginTextDoesNotControlATerminal(t *testing.T) {
	pluginFolder(t)
	onTerminal := func(args ...string) (int, string, string) {
		clear(t)
		var out, errs bytes.Buffer
		a, err := newApp(strings.NewReader(""), &out, &errs)
		require.NoError(t, err)
		a.out = &printableWriter{to: &out}
		code := a.exit(t.Context(), a.dispatch(t.Context(), args))
		return code, out.String(), errs.String()
	}
	for _, fails := range []bool{false, true} {
		code, out, errs := onTerminal("plugin", "run", shouting(t, fails), "--allow-all")
		require.Equal(t, fails, code != ExitOK, errs)
		require.Contains(t, out+errs, "<U+001B>")
		clean(t, out)
		clean(t, errs)
	}
	// A module may name its sections, imports and exports as it likes.
	for _, wat := range []string{
		`(module (import "\1b]0;x\07" "\c2\9b" (func)))`,
		`(module (func (export "\1b[2J")) (func (export "\1b[2J")))`,
	} {
		_, out, errs := onTerminal("plugin", "inspect", file(t, "y.wasm", string(wattest.Must(wat))))
		clean(t, out)
		clean(t, errs)
		_, out, errs = onTerminal("plugin", "install", file(t, "y.wasm", string(wattest.Must(wat))))
		clean(t, out)
		clean(t, errs)
	}
	code, _, errs := onTerminal("plugin", "enable", "\x1b[2J\u202e")
	require.Equal(t, ExitFailed, code)
	clean(t, errs)
}

// A log in JSON stays JSON, and has no character that a terminal acts on.
func TestJSONLogIsPrintable(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&printableWriter{to: &out}, nil))
	log.Error("plugin was not loaded", "err", fmt.Errorf("%s", hostileText))
	clean(t, out.String())
	v, err := engine.ParseJSONText(out.String())
	require.NoError(t, err)
	require.Contains(t, v.Get("err").Str(), "<U+202E>b")
}
