package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// report prints the sizes of the downloads and checks the budget.
func (b bundler) report(page *result) error {
	first := page.initial()
	sum := 0
	fmt.Printf("%-44s %10s %10s\n", "file", "bytes", "gzip")
	err := filepath.WalkDir(b.out, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".map") || strings.HasSuffix(path, ".txt") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		size, err := gzipped(text)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(b.out, path)
		if err != nil {
			return err
		}
		note := ""
		if slices.Contains(first, filepath.ToSlash(rel)) {
			sum += size
			note = "  first"
		}
		fmt.Printf("%-44s %10d %10d%s\n", filepath.ToSlash(rel), len(text), size, note)
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("scripts before the page is drawn: %d bytes gzip of %d\n", sum, budget)
	if sum > budget {
		return fmt.Errorf("the page's scripts weigh %d bytes gzip, %d over the budget of %d: load something lazily",
			sum, sum-budget, budget)
	}
	return b.checkWidget()
}

func gzipped(text []byte) (int, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(text); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return out.Len(), nil
}
