package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

var pluginImport = command{
	name: "plugin import", args: "FILE.py|FILE.json [FLAGS]", summary: "makes a manifest out of a RAGFlow LLMToolPlugin",
	help: `
Reads the block that get_metadata returns, or the same as JSON, and writes the manifest of a plugin with that name and
those arguments. The function itself has to be written anew: easel runs no Python inside a plugin. Names that begin with
$t: are keys of translations and are kept.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		out := fs.String("o", "", "`FILE` to write; standard output when left out")
		return func(_ context.Context, a *app, args []string) error {
			file, err := one("import", "FILE", args)
			if err != nil {
				return err
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				return &usageError{"", err}
			}
			manifest, err := importMetadata(string(raw))
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			text, err := json.MarshalIndent(manifest, "", "  ")
			if err != nil {
				return err
			}
			if *out != "" {
				return writeNew(*out, append(text, '\n'), 0o644)
			}
			_, err = fmt.Fprintln(a.out, string(text))
			return err
		}
	},
}

var (
	versionLine = regexp.MustCompile(`_version_\s*=\s*["']([^"']+)["']`)
	returnLine  = regexp.MustCompile(`return\s*(\{)`)
)

// importMetadata reads a metadata block.
func importMetadata(source string) (map[string]any, error) {
	version, block := "1.0.0", source
	if !strings.HasPrefix(strings.TrimSpace(source), "{") {
		at := returnLine.FindStringSubmatchIndex(source)
		if at == nil {
			return nil, errors.New("no `return {` of a get_metadata in it")
		}
		block = source[at[2]:]
		if v := versionLine.FindStringSubmatch(source); v != nil {
			version = v[1]
		}
	}
	text, err := jsonOfPython(block)
	if err != nil {
		return nil, err
	}
	data, err := engine.ParseJSONText(text)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if data.Get("name").Str() == "" {
		return nil, errors.New("metadata: name is missing")
	}
	manifest := map[string]any{
		"abi": plugin.ABI, "name": importedName(data.Get("name").Str()), "version": importedVersion(version),
		"description": or(data.Get("description").Str(), "Imported from "+data.Get("name").Str()+"."),
		"category":    "tools", "arguments": importedArguments(data.Get("parameters")),
		"outputs": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}, "required": []string{"text"}},
	}
	if name := data.Get("displayName").Str(); name != "" {
		manifest["display"] = map[string]string{"en": name}
	}
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	_, err = plugin.ParseManifest(raw)
	return manifest, err
}

// importedName is a name as manifests have it.
func importedName(name string) string {
	name = regexp.MustCompile(`[^a-z0-9_-]+`).ReplaceAllString(strings.ToLower(name), "_")
	return strings.TrimLeft(name, "_-0123456789")
}

// importedVersion has three numbers.
func importedVersion(v string) string {
	parts := append(strings.Split(v, "."), "0", "0")
	return strings.Join(parts[:max(3, len(parts)-2)], ".")
}

func importedArguments(parameters engine.Value) map[string]any {
	props, required := map[string]any{}, []string{}
	for name, p := range parameters.Fields() {
		props[name] = map[string]any{"type": or(p.Get("type").Str(), "string"), "description": p.Get("description").Str()}
		if p.Get("required").True() {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": props, "required": required}
}

// jsonOfPython writes a literal of dicts, lists, texts, numbers, True, False and None as JSON. It ends with the
// bracket that closes the first one.
func jsonOfPython(s string) (string, error) {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case c == '"' || c == '\'':
			text, n, err := pythonText(s[i:])
			if err != nil {
				return "", err
			}
			quoted, err := json.Marshal(text)
			if err != nil {
				return "", err
			}
			b.Write(quoted)
			i += n
		case strings.IndexByte("{[(", c) >= 0:
			depth++
			b.WriteByte(map[byte]byte{'{': '{', '[': '[', '(': '['}[c])
			i++
		case strings.IndexByte("}])", c) >= 0:
			depth--
			i++
			written := strings.TrimSuffix(strings.TrimSpace(b.String()), ",")
			b.Reset()
			b.WriteString(written)
			b.WriteByte(map[byte]byte{'}': '}', ']': ']', ')': ']'}[c])
			if depth == 0 {
				return b.String(), nil
			}
		default:
			word := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*`).FindString(s[i:])
			if word == "" {
				b.WriteByte(c)
				i++
				continue
			}
			as, ok := map[string]string{"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}[word]
			if !ok {
				return "", fmt.Errorf("metadata: %s is no literal; write its value", word)
			}
			b.WriteString(as)
			i += len(word)
		}
	}
	return "", errors.New("metadata: the block has no end")
}

// pythonText reads a quoted text, and says how many bytes it takes.
func pythonText(s string) (string, int, error) {
	quote := s[:1]
	if strings.HasPrefix(s, strings.Repeat(quote, 3)) {
		quote = s[:3]
	}
	var b strings.Builder
	for i := len(quote); i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return b.String(), i + len(quote), nil
		case s[i] == '\\' && i+1 < len(s):
			switch c := s[i+1]; c {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '\n':
			default:
				b.WriteByte(c)
			}
			i += 2
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return "", 0, errors.New("metadata: a text has no end")
}
