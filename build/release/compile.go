package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	program = "./host/cmd/easel"
	stamps  = "github.com/easel-canvas/easel/host/internal/cli"
)

// compile builds a Go program of the sources in dir without machine paths, symbols or VCS data, so
// that only the sources, the compiler and r determine the output. The image and `make
// build/out/easel` use the same flags.
func (r *release) compile(dir, pkg, target, to string) error {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return fmt.Errorf("expected a platform such as linux/amd64, got %q", target)
	}
	flags := fmt.Sprintf("-s -w -X %s.version=%s -X %s.revision=%s", stamps, r.version, stamps, r.revision)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags="+flags, "-o", to, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// compare builds the program for this machine here and, including the page, from a copy of the
// sources in another directory.
func (r *release) compare() (err error) {
	tmp, err := os.MkdirTemp("", "easel-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	copied := filepath.Join(tmp, "copy")
	if err := copySources(copied); err != nil {
		return err
	}
	for _, step := range []string{"./build/module", "./build/bundle"} {
		args := []string{"run", step}
		if step == "./build/bundle" {
			args = append(args, "-only", "page")
		}
		if err := command(copied, "go", args...); err != nil {
			return err
		}
	}
	here := runtime.GOOS + "/" + runtime.GOARCH
	return r.same(".", copied, program, here, tmp)
}

// same fails if a program differs between two source directories.
func (r *release) same(one, other, pkg, target, tmp string) error {
	var built [2][]byte
	for i, dir := range []string{one, other} {
		to := filepath.Join(tmp, "built")
		if err := r.compile(dir, pkg, target, to); err != nil {
			return err
		}
		var err error
		if built[i], err = os.ReadFile(to); err != nil {
			return err
		}
	}
	if !bytes.Equal(built[0], built[1]) {
		return fmt.Errorf(
			"%s: two builds of the same sources differ: something depends on the directory, the time or chance", pkg)
	}
	return nil
}

// copySources copies the tracked files of the working tree, and links the npm packages.
func copySources(to string) error {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, not yet committed
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			return err
		}
	}
	for _, dir := range []string{"web", "wasm/js"} {
		modules, err := filepath.Abs(filepath.Join(dir, "node_modules"))
		if err != nil {
			return err
		}
		if err := os.Symlink(modules, filepath.Join(to, dir, "node_modules")); err != nil {
			return err
		}
	}
	return nil
}
