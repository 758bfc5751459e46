package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name    string
	mode    int64
	content []byte
}

// archive builds the program for a platform and packs it with its licences.
func (r *release) archive(target string) (err error) {
	tmp, err := os.MkdirTemp("", "easel-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	name, pack, ext := "easel", packTar, ".tar.gz"
	if strings.HasPrefix(target, "windows/") {
		name, pack, ext = "easel.exe", packZip, ".zip"
	}
	built := filepath.Join(tmp, name)
	if err := r.compile(".", program, target, built); err != nil {
		return err
	}
	folder := fmt.Sprintf("easel_%s_%s", r.version, strings.ReplaceAll(target, "/", "_"))
	var entries []entry
	for _, f := range []struct {
		name, path string
		mode       int64
	}{
		{name, built, 0o755},
		{"LICENSE", "LICENSE", 0o644},
		{"NOTICE", "NOTICE", 0o644},
		{"LICENCES.txt", "build/licences/lists/program.txt", 0o644},
	} {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		entries = append(entries, entry{folder + "/" + f.name, f.mode, content})
	}
	packed, err := pack(entries)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, folder+ext), packed, 0o644)
}

// epoch is the modification time of all files in archives: the earliest that both formats support.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func packTar(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	squeezed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(squeezed)
	for _, e := range entries {
		h := &tar.Header{
			Name: e.name, Mode: e.mode, Size: int64(len(e.content)), ModTime: epoch,
			Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), squeezed.Close())
	return out.Bytes(), err
}

func packZip(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: epoch})
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
