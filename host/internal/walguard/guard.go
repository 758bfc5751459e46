package walguard

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/disk"
)

// Options configures a [Guard].
type Options struct {
	// Durable means that commits are synced before they are acknowledged. Without it, missing
	// commits are only logged, since a power loss may take them.
	Durable bool
	// Pages is the number of bytes of the database file that are compared with their checksums
	// before [Open] returns; the rest is compared while the database is in use. -1 compares none.
	Pages int64
	// Accept is the code of a loss with which the database is opened nevertheless.
	Accept string
	// Frames is the number of frames of the WAL between checkpoints; 0 means 2000, twice that of
	// SQLite's automatic ones: pages that are written often are copied half as often, which pays
	// for their checksums.
	Frames uint32
	// Damaged is called when pages that are compared later differ.
	Damaged func(*Loss)
	// Log receives what an operator should know; nil discards it.
	Log *slog.Logger
	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

// Guard records the acknowledged commits of an open database. It is safe for concurrent use, but
// only one goroutine may commit and call [Guard.Begin] and [Guard.Acknowledge].
type Guard struct {
	path string
	opt  Options
	open *handles
	work sync.WaitGroup
	quit chan struct{}

	mu     sync.Mutex
	check  *os.File
	slots  *window // of check
	begun  bool    // a WAL of this process is allowed for
	frames uint32  // of the WAL at the last acknowledgement
	// checkpointAt is the number of frames from which on a checkpoint is due.
	checkpointAt uint32
	// summed are the frames of a generation whose checksums are stored.
	summed struct {
		salts  salts
		frames uint32
	}
	accepted *Loss
	created  bool
	verified bool // the database was opened
}

// Open compares a database with its check file, which it creates if it is missing. The database
// file must exist; nothing else may have opened it in this process except with a guard.
//
// Errors: a *[Loss].
func Open(path string, opt Options) (*Guard, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Frames == 0 {
		opt.Frames = 2000
	}
	g := &Guard{path: path, opt: opt, quit: make(chan struct{}), checkpointAt: opt.Frames}
	if g.check, err = os.OpenFile(path+"-check", os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if g.open, err = acquire(path); err != nil {
		return nil, errors.Join(err, g.check.Close())
	}
	err = g.verify()
	if err == nil {
		g.slots, err = openWindow(g.check, slots*slotSize, true)
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// Accepted returns the loss that was accepted when the database was opened, nil if there was none.
func (g *Guard) Accepted() *Loss { return g.accepted }

// Created reports that there was no record of acknowledged commits when the database was opened.
func (g *Guard) Created() bool { return g.created }

// Close releases the files. Connections to the database must be closed before.
func (g *Guard) Close() error {
	close(g.quit)
	g.work.Wait()
	err := g.locked(g.settle)
	if g.slots != nil {
		err = errors.Join(err, g.slots.Close())
	}
	return errors.Join(err, release(g.path), g.check.Close())
}

// settle records that SQLite has copied the WAL and deleted it with the last connection, which it
// also does after a checkpoint that failed here.
func (g *Guard) settle() error {
	r, known, err := readRecord(g.check)
	if err != nil || !known || r.complete() || !g.verified {
		return err
	}
	if _, err := os.Stat(g.path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if g.summed.salts != r.salts || g.summed.frames != r.frames {
		r.set(unsummed, true)
	}
	r.copied, r.copiedCommits, r.copiedAt = r.frames, r.commits, g.opt.Now().UnixMilli()
	return errors.Join(writeRecord(g.check, &r), g.check.Sync())
}

// locked runs f while no other guard of the database reads or writes the check file.
func (g *Guard) locked(f func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := disk.Lock(g.check); err != nil {
		return err
	}
	return errors.Join(f(), disk.Unlock(g.check))
}

// Begin prepares for commits. The caller calls it before each transaction; only the first call of a
// process may write: a new WAL has salts that no record has.
func (g *Guard) Begin() error {
	if g.begun {
		return nil
	}
	return g.locked(func() error {
		info, err := os.Stat(g.path + "-wal")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && info.Size() > walHeader {
			g.begun = true
			return nil
		}
		r, _, err := readRecord(g.check)
		if err != nil {
			return err
		}
		if r.complete() && !r.has(opening) {
			r.set(opening, true)
			if err := errors.Join(writeRecord(g.check, &r), g.check.Sync()); err != nil {
				return err
			}
		}
		g.begun = true
		return nil
	})
}

// readState returns the state of the WAL in use.
func (g *Guard) readState() (walState, error) {
	index, err := g.open.openIndex(g.path)
	if err != nil {
		return walState{}, err
	}
	return readState(index)
}

// Acknowledge records the newest commit of the database. The caller calls it after a commit and
// before it reports success.
//
// It does not lock the check file, which would double its cost. When two processes commit at the
// same moment, the record of the earlier commit may be written last, until the next commit.
func (g *Guard) Acknowledge() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.readState()
	if err != nil {
		return err
	}
	// Another process may have written the record.
	r, _, err := readRecord(g.slots)
	if err != nil {
		return err
	}
	g.frames = s.frames
	if s.frames == 0 || s.salts == r.salts && s.frames == r.frames {
		return nil // nothing was written
	}
	return g.acknowledge(&r, s)
}

// acknowledge writes the record of a commit.
func (g *Guard) acknowledge(r *record, s walState) error {
	now := g.opt.Now().UnixMilli()
	if s.salts != r.salts {
		// SQLite starts the WAL again when the database file has all commits.
		r.before, r.began, r.copied = r.commits, now, 0
		r.copiedCommits, r.copiedAt = r.commits, r.at
		g.checkpointAt = g.opt.Frames
	}
	first := r.has(opening)
	r.commits++
	r.at, r.salts, r.frames, r.sum, r.pageSize = now, s.salts, s.frames, s.sum, uint32(s.pageSize)
	r.set(opening, false)
	r.set(durable, g.opt.Durable)
	if err := writeRecord(g.slots, r); err != nil || !first {
		return err
	}
	// From here on other salts are an exchanged WAL, also after a power loss.
	return g.check.Sync()
}
