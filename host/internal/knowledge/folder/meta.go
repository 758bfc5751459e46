package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Bounds of metadata, in bytes.
const (
	largestBlock = 64 << 10 // at the beginning of a document
	largestMeta  = 1 << 20  // in a separate file
)

// withBlock are documents that may begin with a block of metadata.
var withBlock = []string{".md", ".markdown", ".mdx", ".txt", ".text"}

// metadata returns the metadata of a document; skip is its length in bytes within the file.
func (f *Folder) metadata(v *file) (meta map[string]any, skip int64, err error) {
	if slices.Contains(withBlock, strings.ToLower(path.Ext(v.path))) {
		head, err := f.readAtMost(v.name, largestBlock)
		if err != nil {
			return nil, 0, err
		}
		meta, skip = frontMatter(string(head))
	}
	side, err := f.readAtMost(v.name+metaSuffix, largestMeta+1)
	if errors.Is(err, fs.ErrNotExist) {
		return meta, skip, nil // most documents have none
	}
	if err != nil {
		return nil, 0, err
	}
	if len(side) > largestMeta {
		return nil, 0, fmt.Errorf("%s: more than %d bytes of metadata", v.path+metaSuffix, largestMeta)
	}
	more := map[string]any{}
	if err := json.Unmarshal(side, &more); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", v.path+metaSuffix, err)
	}
	if meta == nil {
		return more, skip, nil
	}
	maps.Copy(meta, more)
	return meta, skip, nil
}

// readAtMost reads the beginning of a file.
func (f *Folder) readAtMost(name string, n int64) ([]byte, error) {
	in, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close() // it was only read
	return io.ReadAll(io.LimitReader(in, n))
}

// frontMatter reads a block of "key: value" lines between --- lines at the beginning of a text.
// skip is its length; 0 when the text begins with something else.
func frontMatter(text string) (meta map[string]any, skip int64) {
	lines := strings.SplitAfter(text, "\n")
	if strings.TrimRight(strings.TrimPrefix(lines[0], "\uFEFF"), "\r\n") != "---" {
		return nil, 0
	}
	meta = map[string]any{}
	skip = int64(len(lines[0]))
	for _, raw := range lines[1:] {
		skip += int64(len(raw))
		line := strings.TrimRight(raw, "\r\n")
		if line == "---" {
			return meta, skip
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok && strings.TrimSpace(line) != "" {
			return nil, 0 // it is something else
		}
		if key = strings.TrimSpace(key); key == "" {
			continue
		}
		value = strings.TrimSpace(value)
		if list, ok := strings.CutPrefix(value, "["); ok && strings.HasSuffix(list, "]") {
			var values []any
			for v := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
				values = append(values, unquoted(v))
			}
			meta[key] = values
			continue
		}
		meta[key] = unquoted(value)
	}
	return nil, 0
}

func unquoted(v string) string { return strings.Trim(strings.TrimSpace(v), `"'`) }
