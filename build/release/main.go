// Command release writes the files of a release: the program for each platform as an archive with
// its licences, the npm package, software bills of materials, and SHA256SUMS of all. The page and
// the npm package must be built first; `make release-files` runs everything.
//
// Builds are reproducible in any directory: before anything is written, the program is built a
// second time, including the page, from a copy of the sources in another directory, and compared.
//
//	go run ./build/release -revision $(git rev-parse HEAD)
//	go run ./build/release -targets linux/amd64 -out /tmp/release
package main

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	r := release{}
	flag.StringVar(&r.out, "out", filepath.Join("build", "out", "release"),
		"where the files go; what is there is removed")
	flag.StringVar(&r.version, "version", "", "version of easel; default that of the npm package")
	flag.StringVar(&r.revision, "revision", "", "commit that it is made from")
	targets := flag.String("targets", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64",
		"platforms")
	flag.Parse()
	r.targets = strings.Split(*targets, ",")
	if err := r.run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release contains the options of the command.
type release struct {
	out, version, revision string
	targets                []string
}

func (r *release) run() error {
	if r.version == "" {
		var err error
		if r.version, err = packageVersion(); err != nil {
			return err
		}
	}
	for _, needed := range []string{
		"host/internal/page/dist/index.html.br", "wasm/js/dist/engine.wasm",
		"host/internal/knowledge/models/encoder/dist/encoder.gz",
	} {
		if _, err := os.Stat(needed); err != nil {
			return fmt.Errorf("%w; `make release-files` builds it", err)
		}
	}
	fmt.Println("comparing two builds of the program in different directories")
	if err := r.compare(); err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, t := range r.targets {
		fmt.Println("building", t)
		if err := r.archive(t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := command(".", "go", "run", "./build/licences", "-sbom", r.out, "-version", r.version); err != nil {
		return err
	}
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	if err := command("wasm/js", "npm", "pack", "--silent", "--pack-destination", out); err != nil {
		return err
	}
	return sums(r.out)
}

func packageVersion() (string, error) {
	text, err := os.ReadFile("wasm/js/package.json")
	if err != nil {
		return "", err
	}
	var p struct{ Version string }
	return p.Version, json.Unmarshal(text, &p)
}

// command runs a tool in a directory with its output shown.
func command(dir, tool string, args ...string) error {
	cmd := exec.Command(tool, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", tool, strings.Join(args, " "), err)
	}
	return nil
}

// sums writes SHA256SUMS for the files of a directory, in the format of sha256sum.
func sums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(lines.String()), 0o644)
}
