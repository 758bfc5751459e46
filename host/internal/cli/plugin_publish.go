package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/distribution"
	"github.com/easel-canvas/easel/plugins/contract"
)

// publisher is the verb publish with its flags.
type publisher struct {
	sources
	location string
	unsigned bool
	replace  bool
	json     bool
}

var pluginPublish = command{
	name: "plugin publish", args: "FILE.wasm [oci://HOST/REPOSITORY[:TAG]] [FLAGS]",
	summary: "stores a signed plugin in a registry, or lists it in an index",
	help: `
In a registry the file becomes an artifact with one layer of type application/wasm, as ORAS makes it; the tag is the
version when left out. Logins are those that docker and oras store in config.json. --index FILE adds the version to
an index file, at --location or at the address in the registry. A version that is published with another file is
not changed without --replace.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &publisher{}
		p.sources.flags(fs)
		fs.StringVar(&p.location, "location", "",
			"with --index, `ADDRESS` or path below the index where the file can be downloaded")
		fs.BoolVar(&p.unsigned, "unsigned", false,
			"publish a file without signature, which hosts refuse to download by default")
		fs.BoolVar(&p.replace, "replace", false, "replace a published version")
		fs.BoolVar(&p.json, "json", false, "print JSON")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) < 1 || len(args) > 2 || len(args) == 1 && p.index == "" {
				return misuse("plugin publish", "expected FILE.wasm and an oci address, --index, or both")
			}
			return p.publish(ctx, a, args[0], args[1:])
		}
	},
}

func (p *publisher) publish(ctx context.Context, a *app, file string, target []string) error {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return &usageError{"plugin publish", err}
	}
	raw, err := contract.ManifestOf(wasm)
	if err != nil {
		return err
	}
	m, err := contract.ParseManifest(raw)
	if err != nil {
		return err
	}
	seal, signed := plugin.SealOf(wasm)
	if !signed && !p.unsigned {
		return fmt.Errorf("%s has no valid signature: sign it with `easel plugin sign`, or use --unsigned", file)
	}
	out := distribution.Published{Location: p.location}
	if len(target) > 0 {
		r, err := distribution.ParseReference(target[0])
		if err != nil {
			return err
		}
		if r.Tag == "" {
			r.Tag = m.Version
		}
		if out, err = p.client(a).Push(ctx, r, wasm, m.Name+".wasm", m.Version, p.replace); err != nil {
			return err
		}
	}
	if p.index != "" {
		if err := p.list(wasm, m, seal.Publisher, out.Location); err != nil {
			return err
		}
	}
	if p.json {
		return a.printJSON(out)
	}
	_, err = fmt.Fprintf(a.out, "%s %s is published; install it with `easel plugin install %s`\n", m.Name, m.Version,
		or(out.Location, m.Name+" --index "+p.index))
	return err
}

// list adds the version to the index file.
func (p *publisher) list(wasm []byte, m *contract.Manifest, by, location string) error {
	if p.location != "" {
		location = p.location
	}
	if location == "" {
		return misuse("plugin publish", "expected --location, the address of the file")
	}
	sum := sha256.Sum256(wasm)
	return distribution.AddTo(p.index, distribution.Listed{
		Name: m.Name, Description: m.Description, Category: m.Category, License: m.License, Publisher: by,
		Versions: []distribution.Release{{
			Version: m.Version, Location: location, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(wasm)),
			Asks: m.Permissions.Asks(contract.Permissions{}),
		}},
	}, p.replace)
}
