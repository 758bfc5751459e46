package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

var pluginSign = command{
	name: "plugin sign", args: "FILE.wasm --key KEY.pem --publisher NAME", summary: "signs a plugin file",
	help: `
The key is an ed25519 key in PEM form; --new-key creates one. The signature covers every byte of the file: pack first,
sign last. To install the file, trust the key with ` + "`easel plugin trust NAME KEY`" + `.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pluginPlace{}
		p.flags(fs)
		key := fs.String("key", "", "`FILE` of the private key")
		publisher := fs.String("publisher", "", "`NAME` of the key's owner")
		fresh := fs.Bool("new-key", false, "create the key file")
		return func(_ context.Context, a *app, args []string) error {
			file, err := one("sign", "FILE.wasm", args)
			if err != nil {
				return err
			}
			if *key == "" || *publisher == "" {
				return misuse("plugin sign", "--key and --publisher are required")
			}
			return p.sign(a, file, *key, *publisher, *fresh)
		}
	},
}

func (p *pluginPlace) sign(a *app, file, keyFile, publisher string, fresh bool) error {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return &usageError{"", err}
	}
	if fresh {
		if err := newKey(keyFile); err != nil {
			return err
		}
	}
	key, err := readKey(keyFile)
	if err != nil {
		return err
	}
	signed, err := plugin.Sign(wasm, publisher, key)
	if err != nil {
		return err
	}
	if err := disk.Replace(file, signed); err != nil {
		return err
	}
	public := base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
	if p.json {
		return a.printJSON(map[string]string{"file": file, "publisher": publisher, "key": public})
	}
	_, err = fmt.Fprintf(a.out,
		"%s is signed by %s. Others trust it with:\n  easel plugin trust %s %s\n", file, publisher, publisher, public)
	return err
}

func newKey(path string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writeNew(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

func readKey(path string) (ed25519.PrivateKey, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, &usageError{"", fmt.Errorf("%w; --new-key creates one", err)}
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, fmt.Errorf("key %s: not in PEM format", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("key %s: unsupported type %T; expected an ed25519 key", path, parsed)
	}
	return key, nil
}

var pluginVerify = verb("verify", "FILE.wasm", "checks the signature of a plugin file",
	"Exits with 1 if the file is unsigned, was changed, or was signed with a key that is not trusted.",
	func(_ context.Context, a *app, p *pluginPlace, file string) error {
		wasm, err := os.ReadFile(file)
		if err != nil {
			return &usageError{"", err}
		}
		keys, err := p.trusted(a)
		if err != nil {
			return err
		}
		seal, failed := plugin.Verify(wasm, keys)
		if p.json {
			out := map[string]any{"file": file, "trusted": failed == nil, "publisher": seal.Publisher, "key": seal.Key}
			if failed != nil {
				out["problem"] = failed.Error()
			}
			if err := a.printJSON(out); err != nil {
				return err
			}
			if failed != nil {
				return errFailed
			}
			return nil
		}
		if failed != nil {
			return failed
		}
		_, err = fmt.Fprintf(a.out, "%s: signed by %s with a trusted key\n", file, seal.Publisher)
		return err
	})

var pluginTrust = command{
	name: "plugin trust", args: "[PUBLISHER KEY] [FLAGS]",
	summary: "trusts the key of a publisher, or lists trusted keys",
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pluginPlace{}
		p.flags(fs)
		forget := fs.Bool("remove", false, "stop trusting the key")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) != 0 && len(args) != 2 {
				return misuse("plugin trust", "expected PUBLISHER and KEY, or neither")
			}
			return p.trust(ctx, a, args, *forget)
		}
	},
}

func (p *pluginPlace) trust(ctx context.Context, a *app, args []string, forget bool) error {
	keys, err := p.trusted(a)
	if err != nil {
		return err
	}
	if len(args) == 2 {
		publisher, key := args[0], args[1]
		if raw, err := base64.StdEncoding.DecodeString(key); err != nil || len(raw) != ed25519.PublicKeySize {
			return misuse("plugin trust", "%q is not an ed25519 public key in base64", key)
		}
		dir, err := p.folder(a)
		if err != nil {
			return err
		}
		if keys, err = plugin.ChangeTrust(ctx, dir, func(keys map[string][]string) {
			keys[publisher] = slices.DeleteFunc(keys[publisher], func(k string) bool { return k == key })
			if !forget {
				keys[publisher] = append(keys[publisher], key)
			}
			if len(keys[publisher]) == 0 {
				delete(keys, publisher)
			}
		}); err != nil {
			return err
		}
	}
	if p.json {
		return a.printJSON(keys)
	}
	for _, publisher := range sorted(mapKeys(keys)) {
		for _, key := range keys[publisher] {
			fmt.Fprintf(a.out, "%s %s\n", publisher, key)
		}
	}
	return nil
}

func mapKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// or returns text, or a substitute if it is empty.
func or(text, empty string) string {
	if text == "" {
		return empty
	}
	return text
}
