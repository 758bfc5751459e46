// Package wasmcache guards the folders in which wazero keeps compiled modules.
//
// wazero does not check what it reads there: a damaged entry fails the module, allocates memory by
// a damaged length, or runs as machine code. A [Dir] therefore stores the SHA-256 of each entry
// next to it, and removes an entry that differs before wazero sees it; the module is then compiled
// again. Entries that were not used for thirty days, and those of other versions of wazero, are
// removed when the folder is opened. The checksum finds damage, not an attacker: a process that can
// write the folder can write both, so the folder belongs to the host's user alone and is not part
// of a backup.
package wasmcache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// Dir is a folder of compiled modules. It is safe for concurrent use, also by several processes; a
// nil Dir guards nothing.
type Dir struct {
	path    string
	version string // folder of this version of wazero
	log     *slog.Logger

	mu    sync.Mutex
	known map[string]stamp // checked entries by path
}

// stamp changes when a file is written.
type stamp struct {
	size     int64
	modified time.Time
}

// entryName is wazero's name of an entry inside the folder of its version.
var entryName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// sumSuffix is added to the name of an entry for the file with its checksum.
const sumSuffix = ".sha256"

// Open creates the folder if it is missing, and returns wazero's cache in it. An empty path is a
// cache in memory and a nil Dir. log takes a line for each damaged entry; nil means slog.Default.
func Open(path string, log *slog.Logger) (*Dir, wazero.CompilationCache, error) {
	if path == "" {
		return nil, wazero.NewCompilationCache(), nil
	}
	if log == nil {
		log = slog.Default()
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, nil, err
	}
	cache, err := wazero.NewCompilationCacheWithDir(path)
	if err != nil {
		return nil, nil, err
	}
	d := &Dir{path: path, log: log, known: map[string]stamp{}}
	if d.version, err = versionFolder(); err == nil {
		err = d.removeOld(time.Now())
	}
	if err != nil {
		log.Warn("old compiled code was not removed", "dir", path, "err", err)
	}
	return d, cache, nil
}

// KeyOf returns the key of a module for [Dir.Compile].
func KeyOf(module []byte) string {
	sum := sha256.Sum256(module)
	return hex.EncodeToString(sum[:])
}

// Compile calls compile, which may read entries of the folder and write new ones: it removes
// damaged entries before, and writes the checksums of new entries afterwards. key names the module,
// whose entries count as used now; new entries replace older ones of the same key. One compilation
// of a Dir runs at a time; wazero uses all processors for it.
func (d *Dir) Compile(key string, compile func() error) error {
	if d == nil {
		return compile()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.each(d.check); err != nil {
		return fmt.Errorf("check compiled code in %s: %w", d.path, err)
	}
	if err := compile(); err != nil {
		return err
	}
	made := map[string]bool{}
	err := d.each(func(path string, now stamp) error {
		if d.known[path] == now {
			return nil
		}
		made[path] = true
		return d.seal(path, key, now)
	})
	if err == nil {
		err = d.use(key, made)
	}
	if err != nil {
		// The module is compiled; the next process compiles it again.
		d.log.Warn("compiled code is not kept for the next start", "dir", d.path, "err", err)
	}
	return nil
}

// Has reports whether the folder keeps code of a module for this version of wazero. It is for the
// function that runs inside Compile.
func (d *Dir) Has(key string) bool {
	if d == nil {
		return false
	}
	sums, err := filepath.Glob(filepath.Join(d.path, d.version, "*"+sumSuffix))
	if err != nil {
		return false
	}
	for _, file := range sums {
		text, err := os.ReadFile(file)
		if _, of, _ := strings.Cut(strings.TrimSpace(string(text)), " "); err == nil && of == key {
			return true
		}
	}
	return false
}

// each calls do with the path and the info of every entry.
func (d *Dir) each(do func(path string, now stamp) error) error {
	folders, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		entries, err := os.ReadDir(filepath.Join(d.path, folder.Name()))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !entryName.MatchString(e.Name()) {
				continue
			}
			info, err := e.Info()
			if err == nil {
				err = do(filepath.Join(d.path, folder.Name(), e.Name()), stamp{info.Size(), info.ModTime()})
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may have removed it
				return err
			}
		}
	}
	return nil
}

// check removes an entry that differs from its checksum. One without a checksum is from a process
// that died before it could write it, or from a version that wrote none.
func (d *Dir) check(path string, now stamp) error {
	if d.known[path] == now {
		return nil
	}
	want, err := os.ReadFile(path + sumSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sealed := err == nil
	have, err := sum(path)
	switch {
	case err != nil:
		return err
	case sealed && have == sealedSum(want):
		d.known[path] = now
		return nil
	case sealed:
		d.log.Warn("damaged compiled code removed; it is compiled again", "file", path)
	}
	delete(d.known, path)
	return os.Remove(path)
}

// sealedSum returns the checksum in a file of seal.
func sealedSum(text []byte) string {
	sum, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return sum
}

// seal writes the checksum of an entry that check has not seen, and the key of its module.
func (d *Dir) seal(path, key string, now stamp) error {
	text, err := sum(path)
	if err == nil {
		err = os.WriteFile(path+sumSuffix, []byte(text+" "+key+"\n"), 0o600)
	}
	if err == nil {
		d.known[path] = now
	}
	return err
}

func sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
