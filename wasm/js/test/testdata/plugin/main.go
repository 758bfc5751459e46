// Command plugin makes the guests of these tests: it assembles the texts it reads, also metered,
// and builds the examples of plugins/examples. It writes the hostile modules into the folder
// attacks, with the list attacks.json. With programs it adds the programs of package wattest, and
// their list under the name programs.json.
//
//	{"wat": {"name": "(module …)"}, "examples": ["typewriter"]}  ->  {"name": base64, "name.metered": base64, …}
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/easel-canvas/easel/plugins/meter"
	"github.com/easel-canvas/easel/plugins/wattest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "plugin:", err)
		os.Exit(1)
	}
}

func run() error {
	var in struct {
		Wat      map[string]string
		Examples []string
		Attacks  string
		Programs bool
	}
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	out := map[string][]byte{}
	for name, text := range in.Wat {
		out[name] = wattest.Must(text)
		if metered, err := meter.Rewrite(out[name], meter.Limits{Pages: 64}); err == nil {
			out[name+".metered"] = metered
		}
	}
	for _, name := range in.Examples {
		packed, err := example(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out[name] = packed
	}
	if in.Programs {
		list, err := json.Marshal(wattest.Programs())
		if err != nil {
			return err
		}
		out["programs.json"] = list
		for _, p := range wattest.Programs() {
			out[p.Name] = wattest.Must(p.Text)
		}
	}
	if in.Attacks != "" {
		if err := attacks(in.Attacks); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// attacks writes the hostile modules, too large for one answer, and their list.
func attacks(dir string) error {
	type entry struct {
		Name   string         `json:"name"`
		File   string         `json:"file"`
		Fields map[string]any `json:"fields,omitempty"`
		Codes  []string       `json:"codes"`
	}
	var list []entry
	for i, a := range wattest.Attacks() {
		e := entry{a.Name, filepath.Join(dir, fmt.Sprintf("%d.wasm", i)), a.Fields, a.Codes}
		if err := os.WriteFile(e.File, a.Module(), 0o600); err != nil {
			return err
		}
		list = append(list, e)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "attacks.json"), text, 0o600)
}

// example returns a plugin of plugins/examples, packed.
func example(name string) ([]byte, error) {
	dir := filepath.Join("plugins", "examples", name)
	wasm, err := os.ReadFile(filepath.Join(dir, name+".wasm"))
	if err != nil { // one in Go is built
		tmp, err := os.MkdirTemp("", "easel-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(tmp)
		out := filepath.Join(tmp, "plugin.wasm")
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", out, ".")
		cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm"), os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, err
		}
		if wasm, err = os.ReadFile(out); err != nil {
			return nil, err
		}
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return wasm, nil // the test packs it with the manifest that the module returns
	}
	return section(wasm, "easel.manifest", manifest), nil
}

func section(wasm []byte, name string, payload []byte) []byte {
	head := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	out := binary.AppendUvarint(append(wasm[:len(wasm):len(wasm)], 0), uint64(len(head)+len(payload)))
	return append(append(out, head...), payload...)
}
