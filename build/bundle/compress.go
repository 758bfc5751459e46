package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compress writes every file of the page into b.embed as name.br and name.gz, and removes those of
// earlier builds. A hashed name that already exists is not compressed again: the module takes ten
// seconds.
func (b bundler) compress() error {
	if b.embed == "" {
		return nil
	}
	jobs := [][2]string{}
	keep := map[string]bool{}
	err := filepath.WalkDir(b.out, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".map") {
			return err
		}
		name, err := filepath.Rel(b.out, path)
		if err != nil {
			return err
		}
		target := filepath.Join(b.embed, name)
		// The files of Python are large: one form of them is embedded.
		both := !strings.HasPrefix(filepath.ToSlash(name), pythonFolder)
		keep[target+".br"], keep[target+".gz"] = both, true
		if filepath.Dir(name) == "." || both && !exists(target+".br") || !exists(target+".gz") {
			jobs = append(jobs, [2]string{path, target})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := sweep(b.embed, keep); err != nil {
		return err
	}
	return squeeze(jobs)
}

// sweep removes compressed files that are not in keep.
func sweep(folder string, keep map[string]bool) error {
	if !exists(folder) {
		return nil
	}
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || entry.IsDir() || keep[path] || ext != ".br" && ext != ".gz" && ext != ".part" {
			return err
		}
		return os.Remove(path)
	})
}

// script is a Node program that compresses the files of the list in its first argument: pairs of
// source and target. Files are written atomically.
const script = `
const fs = require("node:fs"), path = require("node:path"), zlib = require("node:zlib");
const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT, BROTLI_PARAM_LGWIN } = zlib.constants;
for (const [source, target] of JSON.parse(fs.readFileSync(0, "utf8"))) {
  const bytes = fs.readFileSync(source);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  const write = (ext, data) => {
    fs.writeFileSync(target + ext + ".part", data);
    fs.renameSync(target + ext + ".part", target + ext);
  };
  write(".gz", zlib.gzipSync(bytes, { level: 9 }));
  if (source.includes("assets/python-")) continue;
  const params = { [BROTLI_PARAM_QUALITY]: 11, [BROTLI_PARAM_LGWIN]: 22, [BROTLI_PARAM_SIZE_HINT]: bytes.length };
  write(".br", zlib.brotliCompressSync(bytes, { params }));
}`

func squeeze(jobs [][2]string) error {
	list, err := json.Marshal(jobs)
	if err != nil {
		return err
	}
	node := exec.Command("node", "-e", script)
	node.Stdin, node.Stderr = strings.NewReader(string(list)), os.Stderr
	if err := node.Run(); err != nil {
		return fmt.Errorf("compress the page with node: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
