package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

var pluginInspect = verb("inspect", "FILE.wasm",
	"shows the manifest and permissions of a plugin file without running it", "",
	func(_ context.Context, a *app, p *pluginPlace, file string) error {
		wasm, err := os.ReadFile(file)
		if err != nil {
			return &usageError{"", err}
		}
		seen, err := inspect(a, p, wasm)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if p.json {
			return a.printJSON(seen)
		}
		return seen.print(a)
	})

// inspection describes a file, read without running it.
type inspection struct {
	Digest    string          `json:"digest"`
	Bytes     int             `json:"bytes"`
	Manifest  json.RawMessage `json:"manifest,omitempty"`
	Asks      []string        `json:"asks"`
	Imports   []string        `json:"imports"`
	Cases     int             `json:"cases"`
	Signature string          `json:"signature"`
	parsed    *contract.Manifest
}

func inspect(a *app, p *pluginPlace, wasm []byte) (*inspection, error) {
	shape, err := meter.Inspect(wasm)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(wasm)
	out := &inspection{Digest: hex.EncodeToString(sum[:]), Bytes: len(wasm), Asks: []string{}, Imports: []string{}}
	for _, i := range shape.Imports {
		out.Imports = append(out.Imports, i.Module+" "+i.Name)
	}
	raw, ok, err := contract.Section(wasm, contract.ManifestSection)
	if err != nil {
		return nil, err
	}
	if ok {
		if out.parsed, err = contract.ParseManifest(raw); err != nil {
			return nil, err
		}
		out.Manifest = raw
		out.Asks = append(out.Asks, out.parsed.Permissions.Asks(contract.Permissions{})...)
	}
	cases, err := pluginkit.CasesOf(wasm)
	if err != nil {
		return nil, err
	}
	out.Cases = len(cases)
	keys, err := p.trusted(a)
	if err != nil {
		return nil, err
	}
	seal, err := plugin.Verify(wasm, keys)
	out.Signature = "trusted, of " + seal.Publisher
	if err != nil {
		out.Signature = err.Error()
	}
	return out, nil
}

func (i *inspection) print(a *app) error {
	m := i.parsed
	if m == nil {
		fmt.Fprintln(a.out, "no manifest; write one with `easel plugin pack`")
	} else {
		fmt.Fprintf(a.out, "%s %s: %s\n", m.Name, m.Version, m.Description)
		fmt.Fprintf(a.out, "license:   %s\nstate:     %s\n", or(m.License, "not stated"), or(string(m.State), "none"))
		for _, c := range m.Nodes() {
			printComponent(a, c)
		}
		fmt.Fprintf(a.out, "asks for:  %s\n", or(strings.Join(i.Asks, "\n           "), "nothing"))
	}
	fmt.Fprintf(a.out,
		"cases:     %d\nsize:      %d KB\ndigest:    %s\nsignature: %s\n", i.Cases, i.Bytes>>10, i.Digest, i.Signature)
	return nil
}

// printComponent prints the inputs and outputs of a component.
func printComponent(a *app, m *contract.Manifest) {
	if m.Component != "" {
		fmt.Fprintf(a.out, "component: %s: %s\n", m.NodeName(), m.Description)
	}
	if m.Trigger != "" {
		fmt.Fprintf(a.out, "kind:      begins runs (%s)\n", m.Trigger)
	}
	for _, s := range []struct {
		what   string
		schema *contract.Schema
	}{{"params", m.Params}, {"arguments", m.Arguments}, {"outputs", m.Outputs}} {
		fmt.Fprintf(a.out, "%-10s %s\n", s.what+":", or(strings.Join(properties(s.schema), ", "), "none"))
	}
}

// properties lists name and type of each member, required ones with a star.
func properties(s *contract.Schema) []string {
	var out []string
	for _, name := range s.Names() {
		p, _ := s.Property(name)
		text := name
		if types := p.Types(); len(types) > 0 {
			text += " " + strings.Join(types, "|")
		}
		if slices.Contains(s.Required(), name) {
			text += "*"
		}
		out = append(out, text)
	}
	return out
}

var pluginPack = command{
	name: "plugin pack", args: "DIR [FILE.wasm] [FLAGS]",
	summary: "builds a plugin into one file with its manifest and cases",
	help: `
The folder contains the source, manifest.json (unless the plugin describes itself, as those of the Go SDK do),
cases.json, icon.svg and i18n.json. With FILE.wasm nothing is built.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pluginPlace{}
		p.flags(fs)
		out := fs.String("o", "", "`FILE` to write; NAME-VERSION.wasm when left out")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return misuse("plugin pack", "expected DIR and at most one FILE.wasm")
			}
			return p.with(ctx, a, func(h *plugin.Host) error { return p.pack(ctx, a, h, args, *out) })
		}
	},
}

func (p *pluginPlace) pack(ctx context.Context, a *app, h *plugin.Host, args []string, out string) error {
	if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
		return misuse("plugin pack", "%s is not a folder", args[0])
	}
	var wasm []byte
	var err error
	if len(args) == 2 {
		wasm, err = os.ReadFile(args[1])
	} else {
		wasm, err = pluginkit.Build(ctx, args[0])
	}
	if err == nil {
		wasm, err = pluginkit.Pack(ctx, h, wasm, args[0])
	}
	if err != nil {
		return err
	}
	m, err := h.Load(ctx, wasm, plugin.LoadOptions{}) // a file that would not load is not written
	if err != nil {
		return err
	}
	if out == "" {
		out = m.Manifest().Name + "-" + m.Manifest().Version + ".wasm"
	}
	if err := disk.Replace(out, wasm); err != nil {
		return err
	}
	if p.json {
		return a.printJSON(map[string]any{"file": out, "digest": m.Digest(), "bytes": len(wasm)})
	}
	_, err = fmt.Fprintf(a.out, "%s: %s %s, %d KB\n", out, m.Manifest().Name, m.Manifest().Version, len(wasm)>>10)
	return err
}
