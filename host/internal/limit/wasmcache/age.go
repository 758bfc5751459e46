package wasmcache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
)

const (
	// unusedFor is the time after which an unused entry is removed.
	unusedFor = 30 * 24 * time.Hour
	// otherVersionFor is the time after which files of another version of wazero are removed: a
	// process of it may be running.
	otherVersionFor = 24 * time.Hour
	// mostRemoved bounds the files that one start removes.
	mostRemoved = 1000
)

// versionFolder returns the name of the folder that this version of wazero uses; its API does not.
func versionFolder() (name string, err error) {
	dir, err := os.MkdirTemp("", "easel-wazero-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return "", err
	}
	if err := cache.Close(context.Background()); err != nil {
		return "", err
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(made) != 1 {
		return "", fmt.Errorf("wazero made %d folders for its cache; 1 was expected", len(made))
	}
	return made[0].Name(), nil
}

// removeOld removes entries that were not used for a while.
func (d *Dir) removeOld(now time.Time) error {
	folders, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	rest := mostRemoved
	for _, folder := range folders {
		if !folder.IsDir() || !strings.HasPrefix(folder.Name(), "wazero-") {
			continue
		}
		path, age := filepath.Join(d.path, folder.Name()), unusedFor
		if folder.Name() != d.version {
			age = otherVersionFor
		}
		if err := removeBefore(path, now.Add(-age), &rest); err != nil {
			return err
		}
		if folder.Name() != d.version {
			_ = os.Remove(path) // fails while there are files in it, which stay
		}
	}
	return nil
}

// removeBefore removes the files of a folder that were neither written nor used since a time, at
// most rest of them. The time of an entry is the time of its checksum file.
func removeBefore(dir string, since time.Time, rest *int) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		info, err := os.Stat(path + sumSuffix)
		if errors.Is(err, fs.ErrNotExist) {
			info, err = f.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // another process removed it
			continue
		}
		if err != nil {
			return err
		}
		if info.IsDir() || info.ModTime().After(since) {
			continue
		}
		if *rest--; *rest < 0 {
			return nil
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// use makes now the time of the last use of the entries of a key. When some were made, they replace
// the others of that key.
func (d *Dir) use(key string, made map[string]bool) error {
	now := time.Now()
	return d.each(func(path string, _ stamp) error {
		text, err := os.ReadFile(path + sumSuffix)
		if err != nil {
			return err
		}
		if _, of, _ := strings.Cut(strings.TrimSpace(string(text)), " "); of != key {
			return nil
		}
		if len(made) == 0 || made[path] {
			return os.Chtimes(path+sumSuffix, now, now)
		}
		delete(d.known, path)
		return errors.Join(os.Remove(path), os.Remove(path+sumSuffix))
	})
}
