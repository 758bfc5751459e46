package plugin

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

const quiet = `(module (func (export "easel_invoke") (result i32) i32.const 0))`

// A manifest that names an entry the module does not have is refused when it is loaded.
func TestEntryMustBeExported(t *testing.T) {
	h := newHost(t, Config{})
	for entry, ok := range map[string]bool{"easel_invoke": true, "missing": false} {
		wasm := pack(t, wattest.Must(echo), map[string]any{"entry": map[string]any{"export": entry}})
		_, err := h.Load(t.Context(), wasm, LoadOptions{})
		require.Equal(t, ok, err == nil, "%v", err)
		require.True(t, ok || is(err, contract.Unsupported), "%v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	h := newHost(t, Config{Version: "0.4.2", Limits: contract.Limits{MemoryMB: 16}, StartWait: time.Second})
	plain := wattest.Must(quiet)
	for _, c := range []struct {
		name    string
		wasm    []byte
		want    contract.Code
		message string
	}{
		{"not a module", []byte("hello"), contract.Malformed, "read: "},
		{"a truncated module", pack(t, plain, nil)[:40], contract.Malformed, ""},
		{"an invalid module", pack(t, wattest.Must(`(module (func (export "easel_invoke") (result i32)))`),
			nil), contract.Malformed, "compile: "},
		{"a module without manifest", plain, contract.BadManifest, "easel plugin pack"},
		{
			"two manifests", append(pack(t, plain, nil), pack(t, wattest.Must("(module)"), nil)[8:]...),
			contract.Malformed, "stands twice",
		},
		{
			"a manifest that is not JSON", must(contract.WithSection(plain, contract.ManifestSection, []byte("{"))),
			contract.BadManifest, "not readable",
		},
		{
			"an unknown ABI version in the manifest", pack(t, plain, map[string]any{"abi": 2}), contract.ABIMismatch,
			"ABI 2",
		},
		{"an unknown ABI version in the imports", pack(t, wattest.Must(`(module (import "easel:host/v2" "think" (func)))`),
			nil), contract.ABIMismatch, "easel:host/v2 think"},
		{
			"an unknown host function", pack(t, wattest.Must(`(module (import "easel:host/v1" "think" (func)))`), nil),
			contract.Unsupported, "think",
		},
		{
			"a host function of another type", pack(t,
				wattest.Must(`(module (import "easel:host/v1" "input_len" (func (param i32))))`), nil),
			contract.Unsupported, "as (i32) -> (), it is () -> i32",
		},
		{
			"a component", []byte("\x00asm\x0d\x00\x01\x00"),
			contract.Unsupported, "a component of the component model",
		},
		{
			"an import from another module", pack(t, wattest.Must(`(module (import "env" "abort" (func)))`), nil),
			contract.Unsupported,
			"env abort",
		},
		{
			"an imported memory", pack(t, wattest.Must(`(module (import "easel:host/v1" "m" (memory 1)))`), nil),
			contract.Unsupported, "memory",
		},
		{
			"an import of the meter", pack(t,
				wattest.Must(`(module (import "easel:meter/v1" "tick" (func (param i32) (result i32))))`), nil),
			contract.Unsupported, "easel:meter/v1",
		},
		{
			"a forged fuel counter", pack(t,
				wattest.Must(`(module (global (mut i32) (i32.const 0)) (export "easel:fuel" (global 0)))`), nil),
			contract.Forged, "easel:fuel",
		},
		{
			"pointers without memory", pack(t,
				wattest.Must(`(module (import "easel:host/v1" "log" (func (param i32 i32 i32))))`), nil),
			contract.Unsupported, "export its memory",
		},
		{
			"an export of the wrong type", pack(t, wattest.Must(`(module (func (export "easel_invoke")))`), nil),
			contract.Unsupported, "easel_invoke as () -> (), it is () -> i32",
		},
		{
			"initial memory above the limit", pack(t, wattest.Must(`(module (memory 1000))`), nil), contract.OverLimit,
			"64000 KiB",
		},
		{
			"a requirement the host does not meet",
			pack(t, plain, map[string]any{"requires": []string{"image.draw@1"}}),
			contract.Unsupported, "image.draw@1",
		},
		{
			"an operation in a newer version", pack(t, plain, map[string]any{"requires": []string{"http.fetch@2"}}),
			contract.Unsupported, "http.fetch@2",
		},
		{
			"a newer host is required", pack(t, plain, map[string]any{"min_host": "0.10"}), contract.Unsupported,
			"needs host 0.10, this is 0.4.2",
		},
		{
			"a trap in the start function",
			pack(t, wattest.Must(`(module (func $s unreachable) (start $s))`), nil), contract.Trap,
			"start: ",
		},
		{
			"an endless start function", pack(t, wattest.Must(`(module (func $s loop $l br $l end) (start $s))`), nil),
			contract.Timeout, "start: ",
		},
		{"an endless _initialize", pack(t, wattest.Must(`(module (func (export "_initialize") loop $l br $l end))`),
			nil), contract.Timeout, "_initialize: "},
		{"a manifest that differs from describe", pack(t, wattest.Must(`(module`+importAll+`(data (i32.const 0) "{\22abi\22:1,\22name\22:\22x\22,\22version\22:\221.0.0\22,\22description\22:\22d\22}")
			(func (export "easel_describe") (result i32) i32.const 0 i32.const 56 call $output_write i32.const 0))`), nil), contract.BadManifest, "easel_describe"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := h.Load(context.Background(), c.wasm, LoadOptions{})
			require.Nil(t, m)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.message)
		})
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestLoadOptionalRequirement(t *testing.T) {
	m := load(t, newHost(t, Config{}), quiet, map[string]any{"requires": []string{"image.draw@1?", "http.fetch@1"}})
	require.Equal(t, "sample", m.Manifest().Name)
	require.Len(t, m.Digest(), 64)
}

func TestLoadPlainExtismWithASeparateManifest(t *testing.T) {
	h := newHost(t, Config{})
	m, err := h.Load(context.Background(), wattest.Must(quiet),
		LoadOptions{Manifest: &contract.Manifest{ABI: 1, Name: "bare", Version: "0.0.1", Description: "x"}})
	require.NoError(t, err)
	require.Equal(t, "bare", m.Manifest().Name)
}

func TestSignatures(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	key := base64.StdEncoding.EncodeToString(public)
	plain := pack(t, wattest.Must(quiet), nil)
	signed, err := Sign(plain, "acme", private)
	require.NoError(t, err)
	again, err := Sign(signed, "acme", private)
	require.NoError(t, err)
	require.Equal(t, signed, again, "signing replaces the old signature")
	changed := append([]byte(nil), signed...)
	changed[10] ^= 1
	trust := map[string][]string{"acme": {key}}
	unkeyed := must(contract.WithSection(plain, contract.SignatureSection,
		[]byte(`{"publisher":"acme","key":"AAAA","sig":""}`)))
	mischief := must(contract.WithSection(plain, contract.SignatureSection,
		[]byte("{\"publisher\":\"`reboot`\",\"key\":\"AAAA\",\"sig\":\"\"}")))
	_, err = Sign(plain, "a b", private)
	require.ErrorContains(t, err, `publisher "a b": want letters`)
	unread := must(contract.WithSection(plain, contract.SignatureSection, []byte(`{`)))
	for _, c := range []struct {
		name    string
		wasm    []byte
		keys    map[string][]string
		message string
	}{
		{"a trusted signature", signed, trust, ""},
		{"no signature, no keys", plain, nil, "not signed; no keys are trusted here; its publisher signs it with `easel plugin sign FILE --key KEY.pem --publisher NAME`, and a file you know is installed without --remote"},
		{"no signature", plain, trust, "not signed; trusted are acme with " + key + "; its publisher signs it with `easel plugin sign FILE --key KEY.pem --publisher NAME`, and a file you know is installed without --remote"},
		{"changed bytes", changed, trust, "signed by publisher \"acme\" with key " + key + ", but the bytes were changed afterwards; trusted keys of acme are " + key + "; get the file again, or sign it again with `easel plugin sign`"},
		{"an unknown publisher", signed, nil, "signed by publisher \"acme\" with key " + key + "; no keys are trusted here; to trust it, run `easel plugin trust acme " + key + "`"},
		{"one of several publishers", signed, map[string][]string{"other": {"BBBB", "CCCC"}, "next": {"DDDD"}}, "signed by publisher \"acme\" with key " + key + "; no key of acme is trusted, trusted are next with DDDD; other with BBBB, CCCC; to trust it, run `easel plugin trust acme " + key + "`"},
		{"another key of the publisher", signed, map[string][]string{"acme": {"AAAA", "BBBB"}}, "signed by publisher \"acme\" with key " + key + "; trusted keys of acme are AAAA, BBBB; to trust it, run `easel plugin trust acme " + key + "`"},
		{"a key of another publisher", signed, map[string][]string{"mallory": {key}}, "no key of acme is trusted, trusted are mallory with " + key},
		{"an invalid key", unkeyed, trust, "signed by publisher \"acme\" with key AAAA, which is not an ed25519 public key in base64; trusted keys of acme are " + key + "; sign the file again with `easel plugin sign`"},
		{"an invalid publisher name", mischief, nil, "signed by publisher \"`reboot`\", which is not a valid publisher name; sign the file again with `easel plugin sign`"},
		{"an invalid signature", unread, trust, "the signature is not readable: unexpected end of JSON input; sign the file again with `easel plugin sign`"},
		{"bytes after the signature", append(append([]byte(nil), signed...), pack(t, wattest.Must("(module)"), nil)[8:]...), trust, "not signed; "},
	} {
		t.Run(c.name, func(t *testing.T) {
			seal, err := Verify(c.wasm, c.keys)
			if c.message == "" {
				require.NoError(t, err)
				require.Equal(t, "acme", seal.Publisher)
				return
			}
			require.ErrorIs(t, err, contract.BadSignature)
			require.ErrorContains(t, err, "bad_signature: ")
			require.ErrorContains(t, err, c.message)
		})
	}
	h := newHost(t, Config{Trust: Trust{Keys: trust}})
	_, err = h.Load(context.Background(), plain, LoadOptions{Source: Remote})
	require.ErrorIs(t, err, contract.BadSignature, "a catalogue must sign")
	m, err := h.Load(context.Background(), signed, LoadOptions{Source: Remote})
	require.NoError(t, err)
	require.Equal(t, "acme", m.Seal().Publisher)
	m, err = h.Load(context.Background(), plain, LoadOptions{})
	require.NoError(t, err, "a local file only warns")
	require.Contains(t, m.Warning(), "not signed")
}

func TestApproval(t *testing.T) {
	h := newHost(t, Config{})
	wants := map[string]any{"permissions": map[string]any{"http": map[string]any{"hosts": []string{"a.example", "b.example"}, "reason": "r"}}}
	granted := contract.Permissions{HTTP: &contract.HTTPPermission{Hosts: []string{"a.example"}}}
	_, err := h.Load(context.Background(), pack(t, wattest.Must(quiet), wants), LoadOptions{Granted: granted, Approval: true})
	require.ErrorIs(t, err, contract.NeedsApproval)
	require.ErrorContains(t, err, "asks for http to b.example: r; approve it with `easel plugin enable sample`")
	m, err := h.Load(context.Background(), pack(t, wattest.Must(quiet), wants), LoadOptions{Granted: granted})
	require.NoError(t, err, "without approval the rest is granted")
	require.Equal(t, []string{"a.example"}, m.Granted().HTTP.Hosts)
}

func TestCloseDrains(t *testing.T) {
	h := newHost(t, Config{})
	m := load(t, h, relay, nil)
	started, done := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), CallRequest{
			Input: []byte(`{"op":"var.get","args":{"name":"x"}}`), Services: Services{Variables: blocking{started}}, Grant: &contract.Permissions{Variables: &contract.VariablePermission{Read: []string{"x"}}},
		})
		done <- err
	}()
	<-started
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, m.Close(ctx), context.DeadlineExceeded)
	_, err := m.Call(context.Background(), CallRequest{})
	require.ErrorIs(t, err, contract.Closed, "new calls are refused")
	started <- struct{}{}
	require.NoError(t, <-done, "the running one finishes")
}

func TestDescribeBeforePacking(t *testing.T) {
	h := newHost(t, Config{})
	says := func(text string) []byte {
		return wattest.Must(`(module` + importAll + `(data (i32.const 8) ` + strconv.Quote(text) + `)
			(func (export "easel_describe") (result i32) i32.const 8 i32.const ` + strconv.Itoa(len(text)) + ` call $output_write i32.const 0)
			(func (export "easel_invoke") (result i32) i32.const 0))`)
	}
	manifest := `{"abi":1,"name":"a","version":"1.0.0","description":"d"}`
	got, err := h.Describe(context.Background(), says(manifest))
	require.NoError(t, err)
	require.Equal(t, manifest, string(got))
	_, err = h.Describe(context.Background(), says(`{"abi":1}`))
	require.ErrorIs(t, err, contract.BadManifest)
	_, err = h.Describe(context.Background(), wattest.Must(echo))
	require.ErrorIs(t, err, contract.NotFound)
}

// The description of a plugin has what the first instance has left of the time to start, not the
// time of a call.
func TestDescriptionEndsWithTheStart(t *testing.T) {
	wasm := pack(t, wattest.Must(`(module`+importAll+`
		(func (export "easel_describe") (result i32) loop $l br $l end i32.const 0)
		(func (export "easel_invoke") (result i32) i32.const 0))`), nil)
	began := time.Now()
	described := false
	for wait := 100 * time.Millisecond; !described; wait *= 2 { // a busy machine may start for longer
		require.Less(t, wait, time.Minute)
		h := newHost(t, Config{StartWait: wait})
		_, err := h.Load(t.Context(), wasm, LoadOptions{Granted: contract.Everything()})
		require.ErrorIs(t, err, contract.Timeout)
		described = strings.Contains(err.Error(), "easel_describe")
	}
	require.Less(t, time.Since(began), patience, "a call may take that long")
}
