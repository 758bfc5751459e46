package servertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// pristine holds the files of an empty database, 39 MB: initdb takes 0.9 s of processor time, and a
// copy 0.1 s.
var pristine struct {
	sync.Mutex
	files tree
}

// tree is a directory in memory, in the order of its paths.
type tree []treeFile

type treeFile struct {
	name string
	mode fs.FileMode
	data []byte
}

func readTree(dir string) (files tree, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		f := treeFile{mode: info.Mode()}
		if f.name, err = filepath.Rel(dir, path); err != nil {
			return err
		}
		if !entry.IsDir() {
			f.data, err = os.ReadFile(path)
		}
		files = append(files, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	return files, nil
}

// write makes the directory with its files, which belong to owner unless that is nil.
func (files tree) write(dir string, owner *syscall.Credential) error {
	for _, f := range files {
		path, err := filepath.Join(dir, f.name), error(nil)
		if f.mode.IsDir() {
			err = os.Mkdir(path, f.mode.Perm())
		} else {
			err = os.WriteFile(path, f.data, f.mode.Perm())
		}
		if err == nil && owner != nil {
			err = os.Chown(path, int(owner.Uid), int(owner.Gid))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
