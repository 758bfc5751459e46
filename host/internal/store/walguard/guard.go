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

	mu    sync.Mutex
	check *os.File
	slots *window  // of check: the records and the journal
	begun bool     // a WAL of this process is allowed for
	seen  walState // at the last acknowledgement
	wal   *os.File // nil until it is needed
	chunk []byte   // frames of it
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
	unproven bool
	warned   bool // that another program copies the WAL
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
	if err = g.openSlots(); err == nil {
		err = g.verify()
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// openSlots maps the part of the check file before the checksums, which a new file gets.
func (g *Guard) openSlots() error {
	info, err := g.check.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size < sumsStart {
		if _, err := g.check.WriteAt(make([]byte, sumsStart-size), size); err != nil {
			return err
		}
	}
	g.slots, err = openWindow(g.check, sumsStart, true)
	return err
}

// Accepted returns the loss that was accepted when the database was opened, nil if there was none.
func (g *Guard) Accepted() *Loss { return g.accepted }

// Created reports that there was no record of acknowledged commits when the database was opened.
func (g *Guard) Created() bool { return g.created }

// Unproven reports that another program has changed pages since they were written, so that damage
// is not detected by their checksums. The caller checks the database itself and calls
// [Guard.Proven].
func (g *Guard) Unproven() bool { return g.unproven }

// Proven notes that a database with such pages is intact.
func (g *Guard) Proven() error {
	return g.locked(func() error {
		r, _, err := readRecord(g.check)
		if err != nil {
			return err
		}
		r.set(unproven, false)
		g.unproven = false
		return errors.Join(writeRecord(g.check, &r), g.check.Sync())
	})
}

// Close releases the files. Connections to the database must be closed before.
func (g *Guard) Close() error {
	close(g.quit)
	g.work.Wait()
	err := g.locked(g.settle)
	if g.slots != nil {
		err = errors.Join(err, g.slots.Close())
	}
	if g.wal != nil {
		err = errors.Join(err, g.wal.Close())
	}
	return errors.Join(err, release(g.path), g.check.Close())
}

// settle records that SQLite has copied the WAL and deleted it with the last connection, which it
// also does after a checkpoint that failed here. A WAL that remains after commits of this process,
// or that appeared after the last close, is open in another program, which may copy it later.
func (g *Guard) settle() error {
	r, known, err := readRecord(g.check)
	if err != nil || !known || !g.verified {
		return err
	}
	_, err = os.Stat(g.path + "-wal")
	gone := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !gone:
		return err
	case gone && r.complete() && r.has(closed):
		return nil
	case gone:
		r.set(closed, true)
	case r.has(closed), g.begun && g.opt.Pages >= 0:
		r.set(closed, false)
		r.set(foreign, true)
	default:
		return nil
	}
	if gone && !r.complete() {
		if err := g.settleSums(&r); err != nil {
			return err
		}
		r.copied, r.copiedCommits, r.copiedAt = r.frames, r.commits, g.opt.Now().UnixMilli()
	}
	return errors.Join(writeRecord(g.check, &r), g.check.Sync())
}

// settleSums stores the checksums of pages that SQLite has copied with the last connection.
func (g *Guard) settleSums(r *record) error {
	if g.summed.salts == r.salts && g.summed.frames == r.frames {
		return nil
	}
	has, sums, err := compareJournal(g.open.main, g.check, r)
	if err != nil {
		return err
	}
	r.set(foreign, true) // it may have copied commits that were not recorded
	if has != isCopied {
		r.set(unsummed, true)
	}
	_, err = storeSums(g.check, sums)
	return err
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

// Begin prepares for commits. The caller calls it before each transaction. The first call of a
// process notes that a new WAL may have salts that no record has. Later ones record commits of
// other programs, since the transaction may start the WAL again.
func (g *Guard) Begin() error {
	if g.begun {
		return g.recordOthers()
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
		if r.complete() && (!r.has(opening) || r.has(closed)) {
			r.set(opening, true)
			r.set(closed, false)
			if err := errors.Join(writeRecord(g.check, &r), g.check.Sync()); err != nil {
				return err
			}
		}
		g.begun = true
		return nil
	})
}

// recordOthers records commits of other programs since the last acknowledgement.
func (g *Guard) recordOthers() error {
	if g.seen.frames == 0 {
		return nil
	}
	s, err := g.readState()
	if err != nil || s == g.seen {
		return err
	}
	return g.Acknowledge()
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
// It locks the check file only for a WAL that was started again, since the lock would double its
// cost. When two processes commit at the same moment, the record of the earlier commit may be
// written last, until the next commit.
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
	g.seen = s
	if s.frames == 0 || s.salts == r.salts && s.frames == r.frames {
		return nil // nothing was written
	}
	if s.salts == r.salts {
		return g.acknowledge(&r, s)
	}
	if err := disk.Lock(g.check); err != nil {
		return err
	}
	return errors.Join(g.acknowledge(&r, s), disk.Unlock(g.check))
}

// acknowledge writes the record of a commit.
func (g *Guard) acknowledge(r *record, s walState) error {
	now := g.opt.Now().UnixMilli()
	after := r.frames
	if s.salts != r.salts {
		if err := g.restarted(r, s); err != nil {
			return err
		}
		after = 0
		// SQLite starts the WAL again when the database file has all commits.
		r.before, r.began, r.copied = r.commits, now, 0
		r.copiedCommits, r.copiedAt = r.commits, r.at
		g.checkpointAt = g.opt.Frames
	}
	there, err := g.addFrames(s, after)
	if err != nil {
		return err
	}
	first := r.has(opening)
	r.commits++
	r.at, r.salts, r.frames, r.sum, r.pageSize = now, s.salts, s.frames, s.sum, uint32(s.pageSize)
	r.set(opening, false)
	r.set(closed, false)
	r.set(durable, g.opt.Durable)
	if !there {
		r.copied, r.copiedCommits, r.copiedAt = r.frames, r.commits, now
		r.set(foreign, true)
	}
	if err := writeRecord(g.slots, r); err != nil || !first {
		return err
	}
	// From here on other salts are an exchanged WAL, also after a power loss.
	return g.check.Sync()
}

// restarted notes that SQLite has started the WAL again. If the last generation was copied without
// a guard, its checksums come from the journal, and pages of commits that were not recorded may
// differ from theirs. The caller has not yet recorded the new generation.
func (g *Guard) restarted(r *record, s walState) error {
	if r.has(opening) || r.complete() && s.salts[0]-r.salts[0] == 1 {
		return nil
	}
	pages, _, err := readJournal(g.slots, r)
	if err != nil {
		return err
	}
	sums := map[uint32]uint32{}
	for page, v := range pages {
		sums[page] = v.sum()
	}
	r.set(foreign, true)
	if !g.warned {
		g.warned = true
		g.opt.Log.Warn("another program copies commits of the database from its WAL; nothing is lost, but the next "+
			"start cannot distinguish pages that it has written from damage", "file", g.path)
	}
	_, err = storeSums(g.check, sums)
	return err
}
