package walguard

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/host/internal/disk"
)

// Due reports that the WAL has grown so much that the caller should call [Guard.Checkpoint].
func (g *Guard) Due() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen.frames >= g.checkpointAt
}

// Checkpoint stores the checksums of the pages in the WAL and calls run, which makes a checkpoint
// and returns the numbers of frames in the WAL and in the database file. The caller holds SQLite's
// write lock. If last is set, the connections are about to be closed: SQLite deletes the WAL then.
func (g *Guard) Checkpoint(last bool, run func() (frames, copied int, err error)) error {
	return g.locked(func() error {
		s, err := g.readState()
		if err != nil {
			return err
		}
		r, _, err := readRecord(g.check)
		if err != nil {
			return err
		}
		if s.frames > 0 && (s.salts != r.salts || s.frames != r.copied) {
			err = g.checkpoint(&r, s, run)
		}
		g.checkpointAt = s.frames + g.opt.Frames
		if last {
			err = errors.Join(err, g.check.Sync())
		}
		return err
	})
}

// checkpoint stores the checksums of the pages in the WAL and copies them. Until SQLite starts the
// WAL again, which the write lock prevents, the pages of the database file are not compared, so the
// checksums are synced while it copies.
func (g *Guard) checkpoint(r *record, s walState, run func() (frames, copied int, err error)) error {
	if s.salts != r.salts || s.frames != r.frames { // commits of other programs
		if err := g.acknowledge(r, s); err != nil {
			return err
		}
	}
	before, stored := g.storeSums(s)
	synced := make(chan error, 1)
	go func() { synced <- errors.Join(stored, g.check.Sync()) }()
	frames, copied, err := run()
	if err := g.summedUp(r, s, <-synced); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	if copied < frames || frames != int(s.frames) {
		return g.restoreSums(before, uint32(max(copied, 0)), s) // a reader needs the WAL
	}
	r.copied, r.copiedCommits, r.copiedAt = r.frames, r.commits, g.opt.Now().UnixMilli()
	return writeRecord(g.check, r)
}

// storeSums writes the checksums of new frames and returns the previous ones of their pages.
func (g *Guard) storeSums(s walState) (before map[uint32]uint32, err error) {
	after := uint32(0)
	if g.summed.salts == s.salts && g.summed.frames <= s.frames {
		after = g.summed.frames
	}
	if err := g.syncWAL(); err != nil {
		return nil, err
	}
	j, err := loadJournal(g.slots)
	if err != nil {
		return nil, err
	}
	of, err := frameSums(g.path+"-wal", g.open.index, after, s, j)
	if err != nil {
		return nil, err
	}
	return storeSums(g.check, of)
}

// restoreSums writes the previous checksums of pages that were not copied completely: a page that
// still has one of them lacks acknowledged commits.
func (g *Guard) restoreSums(before map[uint32]uint32, copied uint32, s walState) error {
	newest, err := newestFrames(g.open.index, copied, s)
	if err != nil {
		return err
	}
	maps.DeleteFunc(before, func(page, _ uint32) bool { return newest[page] == 0 })
	g.summed.frames = min(g.summed.frames, copied)
	_, err = storeSums(g.check, before)
	return err
}

// summedUp notes that the checksums of a checkpoint are on the disk. If they are not, they are made
// again at the next start; without the checkpoint, the WAL would grow.
func (g *Guard) summedUp(r *record, s walState, err error) error {
	if err == nil {
		g.summed.salts, g.summed.frames = s.salts, s.frames
		return nil
	}
	if r.has(unsummed) {
		return nil
	}
	g.opt.Log.Warn("checksums of the database cannot be written; they are made again at the next start",
		"file", g.check.Name(), "err", err)
	r.set(unsummed, true)
	return errors.Join(writeRecord(g.check, r), g.check.Sync())
}

// syncWAL syncs a WAL that SQLite does not sync after each commit: after a power loss the checksums
// must not be newer.
func (g *Guard) syncWAL() error {
	if g.opt.Durable {
		return nil
	}
	f, err := os.OpenFile(g.path+"-wal", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// scanRest compares the other pages of the database file while it is in use.
func (g *Guard) scanRest(s *scan) {
	seen := len(s.damaged)
	for !s.done() {
		select {
		case <-g.quit:
			return
		default:
		}
		// The check file is locked during checkpoints, so the database file does not change. Pages
		// of the WAL may be newer than it.
		err := g.locked(func() error {
			var of map[uint32]struct{}
			s.live = func(page uint32) (ok bool, err error) {
				if of == nil {
					if of, err = framePages(g.path + "-wal"); err != nil {
						return false, err
					}
				}
				_, ok = of[page]
				return ok, nil
			}
			return s.step()
		})
		if err != nil {
			g.opt.Log.Warn("pages of the database cannot be compared with their checksums", "file", g.path, "err", err)
			return
		}
	}
	if len(s.damaged) > seen && g.opt.Damaged != nil {
		s.damaged = s.damaged[seen:]
		g.opt.Damaged(g.withPages(nil, s))
	}
}

// setAside copies the damaged files to a folder next to the database.
func (g *Guard) setAside(f *state) error {
	dir, err := disk.MkdirAside(g.path+"-lost-", g.opt.Now())
	if err != nil {
		return err
	}
	f.loss.Aside = dir
	files := []string{g.path + "-check"}
	if f.wal.size > 0 {
		files = append(files, g.path+"-wal")
	}
	for _, file := range files {
		if err := copyFile(file, filepath.Join(dir, filepath.Base(file))); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// use leaves of the WAL what is to be used.
func (g *Guard) use(f *state) error {
	if f.loss.wal != useNone && f.wal.frames > 0 {
		return nil // SQLite ignores the rest
	}
	err := os.Remove(g.path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	f.wal = &wal{}
	return err
}
