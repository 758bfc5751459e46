package python

import (
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"
)

// maxFiles bounds the files and folders of a script.
const maxFiles = 1000

// answerName is the file to which the guest writes its answer. The first one of this name is the
// answer; the guest makes and unlinks it before the script runs.
const answerName = ".result"

// files is the in-memory file system of a script, initially empty except for a few folders. Its
// files together hold at most room bytes, besides those of the answer.
type files struct {
	sys.UnimplementedFS
	root       *entry
	room       int64
	made       int
	answer     *entry // nil until the guest has made it
	answerRoom int64
}

// entry is a file, or a folder if it has a map of entries.
type entry struct {
	ino     wasys.Inode
	data    content
	entries map[string]*entry
}

func newFiles(room int64, folders ...string) *files {
	f := &files{room: room}
	f.root = f.newEntry(true)
	for _, name := range folders {
		f.root.entries[name] = f.newEntry(true)
	}
	return f
}

func (f *files) newEntry(folder bool) *entry {
	f.made++
	e := &entry{ino: wasys.Inode(f.made)}
	if folder {
		e.entries = map[string]*entry{}
	}
	return e
}

func (e *entry) stat() wasys.Stat_t {
	s := wasys.Stat_t{Ino: e.ino, Mode: 0o600, Nlink: 1, Size: e.data.size}
	if e.entries != nil {
		s.Mode = fs.ModeDir | 0o700
	}
	return s
}

// find returns the entry of a path, or nil.
func (f *files) find(name string) *entry {
	e := f.root
	for _, part := range strings.Split(path.Clean("/"+name), "/") {
		if part == "" || part == "." {
			continue
		}
		if e = e.entries[part]; e == nil {
			return nil
		}
	}
	return e
}

// parent returns the folder that holds, or would hold, a path.
func (f *files) parent(name string) (folder *entry, base string, errno sys.Errno) {
	name = path.Clean(name)
	folder = f.find(path.Dir(name))
	switch {
	case folder == nil:
		return nil, "", sys.ENOENT
	case folder.entries == nil:
		return nil, "", sys.ENOTDIR
	}
	return folder, path.Base(name), 0
}

// add puts a new entry at a path that is free.
func (f *files) add(name string, folder bool) (*entry, sys.Errno) {
	in, base, errno := f.parent(name)
	if errno != 0 {
		return nil, errno
	}
	if f.made >= maxFiles || len(base) > 255 {
		return nil, sys.EIO
	}
	e := f.newEntry(folder)
	in.entries[base] = e
	return e, 0
}

// OpenFile implements sys.FS.
func (f *files) OpenFile(name string, flag sys.Oflag, _ fs.FileMode) (sys.File, sys.Errno) {
	e := f.find(name)
	switch {
	case e == nil && flag&sys.O_CREAT == 0:
		return nil, sys.ENOENT
	case e == nil:
		var errno sys.Errno
		if e, errno = f.add(name, false); errno != 0 {
			return nil, errno
		}
		if f.answer == nil && path.Clean(name) == answerName {
			f.answer = e
		}
	case flag&sys.O_CREAT != 0 && flag&sys.O_EXCL != 0:
		return nil, sys.EEXIST
	case flag&sys.O_DIRECTORY != 0 && e.entries == nil:
		return nil, sys.ENOTDIR
	case flag&(sys.O_WRONLY|sys.O_RDWR) != 0 && e.entries != nil:
		return nil, sys.EISDIR
	case flag&sys.O_TRUNC != 0:
		f.resize(e, 0)
	}
	return &file{of: f, entry: e, append: flag&sys.O_APPEND != 0}, 0
}

// resize sets the length of a file if there is room.
func (f *files) resize(e *entry, size int64) sys.Errno {
	room := &f.room
	if e == f.answer {
		room = &f.answerRoom
	}
	grow := size - e.data.size
	if size < 0 || grow > *room {
		return sys.EIO
	}
	*room -= grow
	e.data.resize(size)
	return 0
}

// Lstat implements sys.FS.
func (f *files) Lstat(name string) (wasys.Stat_t, sys.Errno) { return f.Stat(name) }

// Stat implements sys.FS.
func (f *files) Stat(name string) (wasys.Stat_t, sys.Errno) {
	e := f.find(name)
	if e == nil {
		return wasys.Stat_t{}, sys.ENOENT
	}
	return e.stat(), 0
}

// Mkdir implements sys.FS.
func (f *files) Mkdir(name string, _ fs.FileMode) sys.Errno {
	if f.find(name) != nil {
		return sys.EEXIST
	}
	_, errno := f.add(name, true)
	return errno
}

// Chmod implements sys.FS; all files have the same mode.
func (f *files) Chmod(name string, _ fs.FileMode) sys.Errno {
	_, errno := f.Stat(name)
	return errno
}

// Utimens implements sys.FS; files have no times.
func (f *files) Utimens(name string, _, _ int64) sys.Errno {
	_, errno := f.Stat(name)
	return errno
}

// Rename implements sys.FS.
func (f *files) Rename(from, to string) sys.Errno {
	e := f.find(from)
	if e == nil || e == f.root {
		return sys.ENOENT
	}
	if strings.HasPrefix(path.Clean(to)+"/", path.Clean(from)+"/") {
		return sys.EINVAL
	}
	source, base, errno := f.parent(from)
	if errno != 0 {
		return errno
	}
	target, name, errno := f.parent(to)
	if errno != 0 {
		return errno
	}
	if old := target.entries[name]; old != nil {
		if len(old.entries) > 0 {
			return sys.ENOTEMPTY
		}
		f.room += old.data.size
	}
	delete(source.entries, base)
	target.entries[name] = e
	return 0
}

// Rmdir implements sys.FS.
func (f *files) Rmdir(name string) sys.Errno {
	e := f.find(name)
	switch {
	case e == nil || e == f.root:
		return sys.ENOENT
	case e.entries == nil:
		return sys.ENOTDIR
	case len(e.entries) > 0:
		return sys.ENOTEMPTY
	}
	return f.remove(name)
}

// Unlink implements sys.FS. An open file can still be read and written, and keeps its room.
func (f *files) Unlink(name string) sys.Errno {
	e := f.find(name)
	switch {
	case e == nil:
		return sys.ENOENT
	case e.entries != nil:
		return sys.EISDIR
	}
	return f.remove(name)
}

func (f *files) remove(name string) sys.Errno {
	in, base, errno := f.parent(name)
	if errno == 0 {
		delete(in.entries, base)
	}
	return errno
}

// file is an open file or folder.
type file struct {
	sys.UnimplementedFile
	of     *files
	entry  *entry
	offset int64
	append bool
	listed []string // names that Readdir has not returned yet
	lists  bool     // listed is set
}

// Ino implements sys.File.
func (o *file) Ino() (wasys.Inode, sys.Errno) { return o.entry.ino, 0 }

// IsDir implements sys.File.
func (o *file) IsDir() (bool, sys.Errno) { return o.entry.entries != nil, 0 }

// IsAppend implements sys.File.
func (o *file) IsAppend() bool { return o.append }

// SetAppend implements sys.File.
func (o *file) SetAppend(on bool) sys.Errno {
	o.append = on
	return 0
}

// Stat implements sys.File.
func (o *file) Stat() (wasys.Stat_t, sys.Errno) { return o.entry.stat(), 0 }

// Read implements sys.File.
func (o *file) Read(buf []byte) (int, sys.Errno) {
	n, errno := o.Pread(buf, o.offset)
	o.offset += int64(n)
	return n, errno
}

// Pread implements sys.File.
func (o *file) Pread(buf []byte, at int64) (int, sys.Errno) {
	switch {
	case o.entry.entries != nil:
		return 0, sys.EISDIR
	case at < 0:
		return 0, sys.EINVAL
	case at >= o.entry.data.size:
		return 0, 0
	}
	return o.entry.data.readAt(buf, at), 0
}

// position is int64 under another name, because go vet expects a Seek with int64 to be that of
// io.Seeker.
type position = int64

// Seek implements sys.File.
func (o *file) Seek(offset position, whence int) (int64, sys.Errno) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.entry.data.size
	}
	if offset < 0 || o.entry.entries != nil && offset != 0 {
		return 0, sys.EINVAL
	}
	o.offset, o.lists = offset, false
	return offset, 0
}

// Write implements sys.File.
func (o *file) Write(buf []byte) (int, sys.Errno) {
	if o.append {
		o.offset = o.entry.data.size
	}
	n, errno := o.Pwrite(buf, o.offset)
	o.offset += int64(n)
	return n, errno
}

// Pwrite implements sys.File.
func (o *file) Pwrite(buf []byte, at int64) (int, sys.Errno) {
	if o.entry.entries != nil {
		return 0, sys.EISDIR
	}
	if at < 0 || at > 1<<40 {
		return 0, sys.EINVAL
	}
	if end := at + int64(len(buf)); end > o.entry.data.size {
		if errno := o.of.resize(o.entry, end); errno != 0 {
			return 0, errno
		}
	}
	o.entry.data.writeAt(buf, at)
	return len(buf), 0
}

// Truncate implements sys.File.
func (o *file) Truncate(size int64) sys.Errno { return o.of.resize(o.entry, size) }

// Readdir implements sys.File.
func (o *file) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	if o.entry.entries == nil {
		return nil, sys.ENOTDIR
	}
	if !o.lists {
		o.listed, o.lists = slices.Sorted(maps.Keys(o.entry.entries)), true
	}
	if n <= 0 || n > len(o.listed) {
		n = len(o.listed)
	}
	var found []sys.Dirent
	for _, name := range o.listed[:n] {
		if e := o.entry.entries[name]; e != nil { // a script may remove what it lists
			found = append(found, sys.Dirent{Ino: e.ino, Name: name, Type: e.stat().Mode.Type()})
		}
	}
	o.listed = o.listed[n:]
	return found, 0
}

// Utimens implements sys.File; files have no times.
func (o *file) Utimens(int64, int64) sys.Errno { return 0 }

// Close implements sys.File.
func (o *file) Close() sys.Errno { return 0 }
