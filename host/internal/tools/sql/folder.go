package sql

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// sqliteSuffixes are the endings of the files that SQLite opens for one database.
var sqliteSuffixes = []string{"", "-wal", "-shm", "-journal"}

// CheckFolder reports a folder of SQLite files that contains the data directory of a host or one of
// its files, also by another name: a link or a mount. Both may be missing.
//
// Errors: [ErrFolder].
func CheckFolder(dir, hostDir string) error {
	if err := checkAncestors(dir, hostDir); err != nil || dir == "" {
		return err
	}
	files, err := hostFiles(hostDir)
	if err != nil {
		return err
	}
	if info, err := os.Stat(hostDir); err == nil {
		files = append(files, hostFile{hostDir, info})
	}
	real, err := realPath(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info() // of a link, not of its target, which is not reached
		}
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil // a node cannot open it either
		case err != nil:
			return fmt.Errorf("%w: %w", ErrFolder, err)
		}
		return notAmong(files, path, info)
	})
}

// checkAncestors reports a folder that is the data directory or contains it. Directories are
// compared by identity, since a mount shows the same one under several paths.
func checkAncestors(dir, hostDir string) error {
	if dir == "" || hostDir == "" {
		return nil
	}
	realDir, err := realPath(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	folder, err := os.Stat(realDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	path, err := realPath(hostDir)
	if err != nil {
		return fmt.Errorf("%w: data directory: %w", ErrFolder, err)
	}
	for {
		info, err := os.Stat(path)
		if path == realDir || err == nil && os.SameFile(info, folder) {
			return fmt.Errorf("%w: %s contains the data directory %s; "+
				"use a folder with nothing but databases for canvases", ErrFolder, dir, hostDir)
		}
		parent := filepath.Dir(path)
		if parent == path {
			return nil
		}
		path = parent
	}
}

// mostFiles bounds a list of files, and mostEntries the files and folders that are read for it.
const (
	mostFiles   = 500
	mostEntries = 10_000
)

// Files lists the SQLite files that a node may name, below the folder of the runner: at most 500,
// among its first 10,000 files and folders. A runner without a folder has none.
//
// Errors: [ErrFolder].
func (r *Runner) Files() ([]string, error) {
	names := []string{}
	if r.Dir == "" {
		return names, nil
	}
	if err := checkAncestors(r.Dir, r.HostDir); err != nil {
		return nil, err
	}
	ofHost, err := hostFiles(r.HostDir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	defer root.Close()
	entries := 0
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if entries++; entries > mostEntries || len(names) == mostFiles {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil // what cannot be read cannot be named
		case entry.Type().IsRegular() && isSQLite(root, path) && checkIn(root, ofHost, path) == nil:
			names = append(names, path)
		}
		return nil
	})
	return names, err
}

// sqliteMagic begins each file of SQLite.
const sqliteMagic = "SQLite format 3\x00"

func isSQLite(root *os.Root, path string) bool {
	f, err := root.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(sqliteMagic))
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) == sqliteMagic
}

// realPath returns an absolute path without links. Its last elements may be missing.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	found, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
		return found, err
	}
	parent, err := realPath(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

// hostFile is a file of the host that no canvas may open.
type hostFile struct {
	path string
	info fs.FileInfo
}

// hostFiles returns the files in the data directory of a host, where all its databases are.
func hostFiles(hostDir string) ([]hostFile, error) {
	if hostDir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(hostDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: data directory: %w", ErrFolder, err)
	}
	var files []hostFile
	for _, entry := range entries {
		path := filepath.Join(hostDir, entry.Name())
		info, err := os.Stat(path) // the records may be a link to another disk
		if errors.Is(err, fs.ErrNotExist) {
			continue // such as the -wal file of a database that was closed
		}
		if err != nil {
			return nil, fmt.Errorf("%w: data directory: %w", ErrFolder, err)
		}
		if info.Mode().IsRegular() {
			files = append(files, hostFile{path, info})
		}
	}
	return files, nil
}

// notAmong reports that path is one of the files.
func notAmong(files []hostFile, path string, info fs.FileInfo) error {
	for _, f := range files {
		if os.SameFile(f.info, info) {
			return fmt.Errorf("%w: %s is %s of the host", ErrFolder, path, f.path)
		}
	}
	return nil
}

// checkFile reports a database that is no regular file below dir, or one of the host's own. Links
// are followed only inside of dir.
func checkFile(dir, hostDir, name string) error {
	if err := checkAncestors(dir, hostDir); err != nil {
		return err
	}
	files, err := hostFiles(hostDir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	defer root.Close()
	return checkIn(root, files, name)
}

// checkIn reports a database that is no regular file in root, or one of the files of the host.
func checkIn(root *os.Root, files []hostFile, name string) error {
	for _, suffix := range sqliteSuffixes {
		info, err := root.Stat(name + suffix)
		if suffix != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			var p *os.PathError
			if errors.As(err, &p) {
				err = p.Err
			}
			return fmt.Errorf("database %q: %w", name+suffix, err)
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("database %q is not a file", name+suffix)
		}
		if err := notAmong(files, name+suffix, info); err != nil {
			return err
		}
	}
	return nil
}
