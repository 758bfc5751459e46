package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
	"github.com/easel-canvas/easel/plugins/wattest"
)

const weather = `{"abi":1,"name":"weather","version":"1.2.0","description":"Weather of a city.","streams":true,
	"params":{"type":"object","properties":{"units":{"type":"string","enum":["c","f"],"default":"c"}}},
	"arguments":{"type":"object","required":["city"],"properties":{"city":{"type":"string","description":"City name"}}},
	"outputs":{"type":"object","properties":{"text":{"type":"string"},"temp":{"type":"number"}},"required":["text"]},
	"permissions":{"llm":{"max_calls":1,"reason":"words"}}}`

// keep passes a manifest to the module.
func (k *talk) keep(manifest string) {
	ok, answer := k.load(`{"op":"plugin","timeout_ms":5000,"locale":"en","checks":true}` + "\n" +
		strings.ReplaceAll(manifest, "\n", " "))
	require.True(k.t, ok, answer.JSON())
}

// called returns the last call among lines, and its text.
func called(t *testing.T, lines []line) (line, engine.Value) {
	t.Helper()
	for _, l := range slices.Backward(lines) {
		if l.Fn == "call" {
			v, err := engine.ParseJSONText(l.Text)
			require.NoError(t, err)
			return l, v
		}
	}
	require.Fail(t, "nothing was called")
	return line{}, engine.Null
}

const weatherNode = `A plugin:weather@1 {"city":"{sys.query}"}`

func TestPluginRuns(t *testing.T) {
	meet(t, func(k *talk) {
		k.keep(weather)
		k.open(weatherNode)
		asked, call := called(k.t, k.start(`{"canvas":1,"query":"Oslo","ports":["plugin"]}`))
		payload := call.Get("payload")
		require.Equal(k.t, "A", call.Get("node").Str())
		require.Equal(k.t, `["weather","1.2.0","easel_invoke"]`,
			engine.List(payload.Get("plugin"), payload.Get("version"), payload.Get("export")).JSON())
		input, err := engine.ParseJSONText(payload.Get("input").Str())
		require.NoError(k.t, err)
		require.NoError(k.t, inputSchema(k.t).Validate(plainJSON(k.t, payload.Get("input").Str())),
			"as the contract has it")
		require.Equal(k.t, `{"units":"c"}`, input.Get("params").JSON())
		require.Equal(k.t, `{"city":"Oslo"}`, input.Get("arguments").JSON())
		about := input.Get("call")
		require.Equal(k.t, `["A",1,5000,"en",true]`, engine.List(about.Get("node"), about.Get("attempt"),
			about.Get("deadline_ms"), about.Get("locale"), about.Get("preview")).JSON())

		reply := func(question string) engine.Value {
			tell(k.b, line{Fn: "deliver", Call: asked.Call, OK: yes(), More: yes(), Text: question})
			again, v := called(k.t, k.host.take())
			require.Equal(k.t, asked.Call, again.Call)
			require.Equal(k.t, "reply", v.Get("kind").Str())
			return v
		}
		require.Equal(k.t, `{"kind":"reply","ask":1,"answer":{"ok":{}}}`,
			reply(`{"ask":1,"op":"emit","args":{"kind":3,"pct":50,"note":"half"}}`).JSON())
		require.Equal(k.t, `{"found":true,"value":"Oslo"}`,
			reply(`{"ask":2,"op":"var.get","args":{"name":"sys.query"}}`).Get("answer").Get("ok").JSON())
		require.Equal(k.t, "not_found",
			reply(`{"ask":3,"op":"var.set","args":{"name":"env.none","value":1}}`).Get("answer").Get("error").
				Get("code").Str())
		require.NotEmpty(k.t,
			reply(`{"ask":4,"op":"llm.chat","args":{"messages":[{"role":"user","content":"Hi"}]}}`).Get("answer").
				Get("ok").Get("text").Str())
		require.Equal(k.t, "unsupported",
			reply(`{"ask":5,"op":"fly","args":{}}`).Get("answer").Get("error").Get("code").Str())

		tell(k.b, line{
			Fn: "deliver", Call: asked.Call, OK: yes(), More: no(),
			Text: `{"output":"{\"outputs\":{\"text\":\"cold\",\"temp\":3}}"}`,
		})
		ok, answer := k.answer()
		require.True(k.t, ok)
		require.Equal(k.t, `{"text":"cold","temp":3}`, answer.Get("outputs").JSON())
	})
}

// inputSchema returns the contract's schema of a plugin's input.
func inputSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	raw, err := os.ReadFile("../plugins/contract/messages.schema.json")
	require.NoError(t, err)
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(raw, &s))
	require.Contains(t, s.Defs, "input")
	s.Ref = "#/$defs/input"
	resolved, err := s.Resolve(nil)
	require.NoError(t, err)
	return resolved
}

func plainJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}

func TestPluginFailures(t *testing.T) {
	for _, c := range []struct{ name, text, code, message string }{
		{
			"an error of the plugin", `!{"code":"not_found","message":"no such city"}`, "not_found",
			"node A (plugin:weather@1): plugin weather: easel_invoke: not_found: no such city",
		},
		{"not a message of the contract", `{"output":"{"}`, "bad_output", "not the JSON of the contract"},
		{"missing outputs", `{"output":"{}"}`, "bad_output", "outputs: missing"},
		{
			"an output of the wrong type", `{"output":"{\"outputs\":{\"text\":1}}"}`, "bad_output",
			"outputs.text: want string, got number",
		},
		{"a missing output", `{"output":"{\"outputs\":{}}"}`, "bad_output", "outputs.text: missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			meet(t, func(k *talk) {
				k.keep(weather)
				k.open(weatherNode)
				asked, _ := called(k.t, k.start(`{"canvas":1,"query":"Oslo","ports":["plugin"]}`))
				text, failed := strings.CutPrefix(c.text, "!")
				ok := !failed
				tell(k.b, line{Fn: "deliver", Call: asked.Call, OK: &ok, More: no(), Text: text})
				_, answer := k.answer()
				require.Contains(t, answer.Get("error").Get("message").Str(), c.message)
				if failed {
					require.Equal(t, c.code, answer.Get("error").Get("code").Str())
				}
			})
		})
	}
}

func TestPluginIsKnown(t *testing.T) {
	meet(t, func(k *talk) {
		validate := func(params string) engine.Value {
			_, problems := k.load(`{"op":"validate"}` + "\n" + sketch.Chain("begin Begin", "A plugin:weather@1 "+params))
			return problems
		}
		missing := validate(`{"city":"{sys.query}"}`)
		require.Equal(k.t, 1, missing.Len(), missing)
		require.Contains(k.t, missing.At(0).Get("message").Str(),
			"plugin:weather@1 does not run here: not loaded; add its file to plugins")

		k.keep(weather)
		require.Equal(k.t, "[]", validate(`{"city":"{sys.query}"}`).JSON())
		require.Contains(k.t, validate(`{"units":"k","city":"{sys.query}"}`).JSON(), "units: want one of [c f], got k")

		_, all := k.load(`{"op":"components"}`)
		spec := all.At(all.Len() - 1)
		require.Equal(k.t, "plugin:weather@1", spec.Get("name").Str())
		require.Equal(k.t, `["city"]`, spec.Get("tool").Get("function").Get("parameters").Get("required").JSON(),
			spec.Get("tool"))

		_, answer := k.load(`{"op":"plugin","forget":"weather"}`)
		require.Equal(k.t, "{}", answer.JSON())
		require.Equal(k.t, 1, validate(`{}`).Len())
		for _, wrong := range []string{"{", "[]", `{"name":"x"}`, `{"name":"x","version":"1.0.0","params":3}`} {
			ok, _ := k.load(`{"op":"plugin"}` + "\n" + wrong)
			require.False(k.t, ok, wrong)
		}
	})
}

// A plugin that takes no part in previews has a form, is reported by validate, and fails when a
// node reaches it.
func TestPluginExcludedFromPreviews(t *testing.T) {
	for preview, says := range map[string]string{
		"server": "runs on a server only",
		"none":   "not run to try a canvas out",
	} {
		t.Run(preview, func(t *testing.T) {
			meet(t, func(k *talk) {
				k.keep(strings.Replace(weather, `"streams":true`, `"streams":true,"preview":"`+preview+`"`, 1))
				_, problems := k.load(`{"op":"validate"}` + "\n" + sketch.Chain("begin Begin", weatherNode))
				require.Equal(k.t, 1, problems.Len(), problems)
				require.Contains(k.t, problems.At(0).Get("message").Str(),
					"plugin:weather@1 does not run here: its manifest says")
				_, all := k.load(`{"op":"components"}`)
				spec := all.At(all.Len() - 1)
				require.Contains(k.t, spec.Get("missing").Str(), says)
				require.NotZero(k.t, spec.Get("params").Get("properties").Get("units").Len(), "its form is known")
				k.open(weatherNode)
				lines := k.start(`{"canvas":1,"query":"Oslo","ports":["plugin"]}`)
				for _, l := range lines {
					require.NotEqual(k.t, "call", l.Fn, l.Text)
				}
				answer, err := engine.ParseJSONText(lines[len(lines)-1].Text)
				require.NoError(k.t, err)
				require.Equal(k.t, "unsupported", answer.Get("error").Get("code").Str(), answer.JSON())
				require.Contains(k.t, answer.Get("error").Get("message").Str(), says)
			})
		})
	}
}

// TestPluginOnAServer has a host that is a server.
func TestPluginOnAServer(t *testing.T) {
	meet(t, func(k *talk) {
		for preview, missing := range map[string]bool{"server": false, "none": true} {
			ok, _ := k.load(`{"op":"plugin","server":true}` + "\n" + strings.ReplaceAll(strings.Replace(weather,
				`"streams":true`, `"streams":true,"preview":"`+preview+`"`, 1), "\n", " "))
			require.True(k.t, ok)
			_, all := k.load(`{"op":"components"}`)
			require.Equal(k.t, missing, all.At(all.Len()-1).Get("missing").Str() != "", preview)
		}
	})
}

// TestPluginChecksItsParams checks that validate calls the plugin, without a run.
func TestPluginChecksItsParams(t *testing.T) {
	meet(t, func(k *talk) {
		oslo := `{"op":"validate"}` + "\n" +
			sketch.Chain("begin Begin", `A plugin:weather@1 {"units":"f","city":"Oslo"}`)
		k.keep(weather)
		k.last++
		tell(k.b, line{Fn: "load", ID: k.last, Text: oslo})
		asked, call := called(k.t, k.host.take())
		require.Equal(k.t, uint32(0), asked.Run)
		require.Equal(k.t, `{"plugin":"weather","version":"1.2.0","export":"easel_check",`+
			`"input":"{\"params\":{\"units\":\"f\"}}","timeout_ms":1000}`, call.Get("payload").JSON())
		tell(k.b, line{
			Fn: "deliver", Call: asked.Call, OK: no(), More: no(),
			Text: `{"code":"invalid_argument","message":"too cold"}`,
		})
		_, problems := k.answer()
		require.Contains(k.t, problems.JSON(), "plugin weather: easel_check: invalid_argument: too cold")

		k.last++ // and one that never answers
		tell(k.b, line{Fn: "load", ID: k.last, Text: oslo})
		called(k.t, k.host.take())
		time.Sleep(checkWait + time.Second)
		synctest.Wait()
		_, problems = k.answer()
		require.Contains(k.t, problems.JSON(), "plugin weather: easel_check: timeout: easel_check timed out")
	})
}

// examined is the answer to examine: the description of the file, its manifest, and the metered
// module.
type examined struct {
	about, manifest engine.Value
	metered         []byte
}

func (k *talk) examine(header string, wasm []byte) (examined, engine.Value) {
	k.last++
	tell(k.b, line{Fn: "load", ID: k.last, Text: header + "\n" + base64.StdEncoding.EncodeToString(wasm)})
	lines := k.host.take()
	last := lines[len(lines)-1]
	parts := strings.Split(last.Text, "\n")
	about, err := engine.ParseJSONText(parts[0])
	require.NoError(k.t, err)
	if len(parts) == 1 {
		return examined{}, about
	}
	require.Len(k.t, parts, 3)
	manifest, err := engine.ParseJSONText(parts[1])
	require.NoError(k.t, err)
	metered, err := base64.StdEncoding.DecodeString(parts[2])
	require.NoError(k.t, err)
	return examined{about, manifest, metered}, engine.Null
}

// packed puts a manifest into a module.
func packed(t *testing.T, wat, manifest string) []byte {
	t.Helper()
	wasm, err := contract.WithSection(wattest.Must(wat), contract.ManifestSection, []byte(manifest))
	require.NoError(t, err)
	return wasm
}

const logging = `(module (import "easel:host/v1" "log" (func $log (param i32 i32 i32))) (memory (export "memory") 1)
	(func (export "easel_invoke") (result i32) i32.const 0))`

func TestExamineReadsAndMetersAFile(t *testing.T) {
	meet(t, func(k *talk) {
		const manifest = `{"abi":1,"name":"n","version":"1.0.0","description":"d",
			"limits":{"memory_mb":2,"fuel":9007199254740993},
			"params":{"type":"object","colour":1,"properties":{"n":{"default":9007199254740993}}},
			"permissions":{"http":{"hosts":["a.example","b.example"],"reason":"r"},"llm":{"max_calls":5,"reason":"r"}}}`
		wasm := packed(k.t, logging, manifest)
		got, failure := k.examine(`{"op":"examine","meter":true,"limits":{"timeout_ms":100},`+
			`"grant":{"http":{"hosts":["*.example"]},"llm":{"max_calls":2}}}`, wasm)
		require.True(k.t, failure.IsNull(), failure)
		require.Equal(k.t, `{"memory_mb":2,"timeout_ms":100,"output_kb":16384,"fuel":50000000000}`,
			got.about.Get("limits").JSON())
		require.Equal(k.t, `{"http":{"hosts":["a.example","b.example"],"methods":["GET","HEAD"],"reason":"r"},`+
			`"llm":{"max_calls":2,"reason":"r"}}`,
			got.about.Get("granted").JSON())
		require.Equal(k.t, `{"type":"object","colour":1,"properties":{"n":{"default":9007199254740993}}}`,
			got.manifest.Get("params").JSON())
		require.Equal(k.t, `[["easel:host/v1","log","func","iii:"]]`, got.about.Get("imports").JSON())
		require.Equal(k.t, `[["memory","memory",":"],["easel_invoke","func",":i"]]`, got.about.Get("exports").JSON())
		require.True(k.t, got.about.Get("memory").True())
		want, err := meter.Rewrite(wasm, meter.Limits{Pages: 32})
		require.NoError(k.t, err)
		require.Equal(k.t, want, got.metered)

		got, _ = k.examine(`{"op":"examine","grant":"asked"}`, wasm)
		require.Equal(k.t, 2, got.about.Get("granted").Len())
		require.Empty(k.t, got.metered, "nothing was asked to be metered")
		got, _ = k.examine(`{"op":"examine"}`, wasm)
		require.Equal(k.t, "{}", got.about.Get("granted").JSON(), "without a grant nothing is granted")
	})
}

func TestExamineRefuses(t *testing.T) {
	const minimal = `{"abi":1,"name":"n","version":"1.0.0","description":"d"}`
	meet(t, func(k *talk) {
		for _, c := range []struct {
			header string
			wasm   []byte
			code   string
		}{
			{"", []byte("no module"), "malformed"},
			{"", wattest.Must(logging), "bad_manifest"},
			{"", packed(k.t, logging, `{"abi":1}`), "bad_manifest"},
			{
				"", packed(k.t, logging,
					`{"abi":1,"name":"n","version":"1.0.0","description":"d",
						"outputs":{"type":"object","items":true}}`),
				"bad_manifest",
			},
			{"", packed(k.t, logging, strings.Replace(minimal, `"abi":1`, `"abi":2`, 1)), "abi_mismatch"},
			{`,"version":"0.4.2"`, packed(k.t, logging,
				strings.Replace(minimal, `"abi"`, `"min_host":"0.10","abi"`, 1)), "unsupported"},
			{
				"", packed(k.t, `(module (global (mut i32) (i32.const 0)) (export "easel:fuel" (global 0)))`, minimal),
				"forged",
			},
			{`,"limits":{"memory_mb":1}`, packed(k.t, `(module (memory 17))`, minimal), "over_limit"},
			{"", packed(k.t, `(module (func `+strings.Repeat("loop ", 12_000)+strings.Repeat("end ", 12_000)+`))`,
				minimal), "over_limit"},
			{"", packed(k.t, `(module (func (local`+strings.Repeat(" i32", 1000)+`)`+
				strings.Repeat(" local.get 0 if end", 3000)+`))`, minimal), "over_limit"},
			{"", append(packed(k.t, logging, minimal), bytes.Repeat([]byte{0, 2, 1, 'a'}, 2000)...), "over_limit"},
			{"", []byte("\x00asm\x0d\x00\x01\x00"), "unsupported"},
			{`,"grant":{"http":3}`, packed(k.t, logging, minimal), codeRequest},
			{`,"limits":[]`, packed(k.t, logging, minimal), codeRequest},
		} {
			_, failure := k.examine(`{"op":"examine","meter":true`+c.header+`}`, c.wasm)
			require.Equal(k.t, c.code, failure.Get("code").Str(), failure)
		}
		ok, answer := k.load(`{"op":"examine"}` + "\n***")
		require.False(k.t, ok)
		require.Equal(k.t, codeRequest, answer.Get("code").Str())
	})
}
