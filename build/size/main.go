// Command size compares the engine module with its budget: the raw, gzip -9 and brotli 11 sizes of
// wasm/dist/engine.wasm with budget.txt next to this file, and with the recorded sizes. It fails if
// a limit is exceeded.
//
//	go run ./build/size          # compare
//	go run ./build/size -write   # record the sizes
//
// Node compresses because the standard library has no Brotli.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	module := flag.String("module", filepath.Join("wasm", "dist", "engine.wasm"), "the module, built by build/module")
	budget := flag.String("budget", filepath.Join("build", "size", "budget.txt"), "limits and last sizes")
	write := flag.Bool("write", false, "write the sizes down")
	flag.Parse()
	if err := run(*module, *budget, *write); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(module, budgetFile string, write bool) error {
	text, err := os.ReadFile(budgetFile)
	if err != nil {
		return err
	}
	rows, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", budgetFile, err)
	}
	sizes, err := measure(module)
	if err != nil {
		return err
	}
	over := compare(rows, sizes, func(line string) { fmt.Println(line) })
	if write {
		if err := os.WriteFile(budgetFile, []byte(format(string(text), sizes)), 0o644); err != nil {
			return err
		}
	}
	if len(over) > 0 {
		return fmt.Errorf("%s is larger than its budget: %s", module, strings.Join(over, ", "))
	}
	return nil
}

// compressed is a Node program that prints the sizes as JSON.
const compressed = `
const zlib = require("node:zlib"), bytes = require("node:fs").readFileSync(process.argv[1]), { constants: c } = zlib;
const params = { [c.BROTLI_PARAM_QUALITY]: 11, [c.BROTLI_PARAM_LGWIN]: 24, [c.BROTLI_PARAM_SIZE_HINT]: bytes.length };
console.log(JSON.stringify({
  raw: bytes.length,
  gzip: zlib.gzipSync(bytes, { level: 9 }).length,
  brotli: zlib.brotliCompressSync(bytes, { params }).length,
}));
`

// measure returns the sizes in bytes by form: raw, gzip, brotli.
func measure(module string) (map[string]int, error) {
	if _, err := os.Stat(module); err != nil {
		return nil, fmt.Errorf("%w; build it first: go run ./build/module", err)
	}
	out, err := exec.Command("node", "-e", compressed, module).Output()
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	sizes := map[string]int{}
	return sizes, json.Unmarshal(out, &sizes)
}
