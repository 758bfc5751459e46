package walguard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// state describes the files of a database when it is opened.
type state struct {
	record
	known bool // there was a record
	wal   *wal
	loss  *Loss // nil if nothing is missing from the WAL
	// others is set if another program may have copied the WAL. moved is set if it has, and the
	// WAL no longer has the recorded frames.
	others, moved bool
}

// verify compares the files before SQLite opens them.
func (g *Guard) verify() error {
	var rest *scan
	err := g.locked(func() error {
		f, err := g.compareWAL()
		if err != nil {
			return err
		}
		s, err := g.scanFirst(&f)
		if err != nil {
			return err
		}
		if err := g.judge(&f, s); err != nil {
			return err
		}
		if err := g.settled(&f, s); err != nil {
			return err
		}
		if g.opt.Pages >= 0 && !s.done() {
			rest = s
		}
		return nil
	})
	g.verified = err == nil
	if err == nil && rest != nil {
		g.work.Go(func() { g.scanRest(rest) })
	}
	return err
}

// settled writes the record after a comparison whose result was accepted.
func (g *Guard) settled(f *state, s *scan) error {
	g.unproven = f.has(unproven) && g.opt.Pages >= 0
	switch {
	case !f.known, f.loss != nil, f.moved:
		if g.opt.Pages < 0 && f.moved {
			return nil // the host may be running, and records it
		}
		return g.begin(f, uint32(s.pageSize))
	case f.has(unsummed), f.others && f.has(foreign):
		f.set(unsummed, false)
		f.set(foreign, false)
		return errors.Join(writeRecord(g.check, &f.record), g.check.Sync())
	}
	return nil
}

// compareOthers finds out whether another program has copied the WAL. SQLite does this whenever a
// program closes the last connection of a killed host, and after 1000 frames.
func (g *Guard) compareOthers(f *state) error {
	r, w := &f.record, f.wal
	switch {
	case !f.known:
		return nil
	case f.loss != nil && f.loss.elsewhere:
	case f.loss != nil || g.opt.Pages < 0:
		return nil
	case r.has(foreign):
		f.others = true
		return nil
	case w.header && w.salts != r.salts && !r.complete(), w.empty() && !r.has(closed):
	default:
		return nil
	}
	has, sums, err := compareJournal(g.open.main, g.check, r)
	if err != nil {
		return err
	}
	if f.loss != nil && has != isCopied {
		reason := "%s, and %s does not have its commits"
		if has == maybeCopied {
			reason = "%s; if another program has opened the database since, such as sqlite3, it may have moved the " +
				"commits of this file to %s"
		}
		f.loss.Reason = fmt.Sprintf(reason, f.loss.Reason, filepath.Base(g.path))
		return nil
	}
	f.moved, f.loss = f.loss != nil, nil
	f.others = g.opt.Pages >= 0 && has != notCopied
	_, err = storeSums(g.check, sums)
	return err
}

// compareWAL compares the WAL with the record. Another process may be writing both, so a loss has
// to be found several times.
func (g *Guard) compareWAL() (f state, err error) {
	for range 5 {
		if f.record, f.known, err = readRecord(g.check); err != nil {
			return f, err
		}
		if f.wal, err = readWAL(g.path+"-wal", f.frames); err != nil {
			return f, err
		}
		if f.known {
			f.loss = compare(g.path, &f.record, f.wal)
		} else {
			f.loss = unrecorded(g.path, f.wal)
		}
		if f.loss == nil {
			break
		}
	}
	if err := g.compareOthers(&f); err != nil {
		return f, err
	}
	info, err := g.open.main.Stat()
	if err == nil && info.Size() == 0 && f.commits > 0 {
		f.loss = missing(&f.record, filepath.Base(g.path)+" is missing or empty", useNone)
		f.loss.Commits, f.loss.expected = int64(f.commits), false
	}
	if err == nil && !f.known {
		g.created = true
		err = forgetSums(g.check) // of a check file whose record is damaged
	}
	return f, err
}

// scanFirst compares the first pages of the database file, and all if there is a loss: its code
// depends on them.
func (g *Guard) scanFirst(f *state) (*scan, error) {
	pageSize, pages, err := readMainHead(g.open.main)
	if err != nil {
		return nil, err
	}
	if info, err := g.open.main.Stat(); err != nil {
		return nil, err
	} else if pageSize == 0 && info.Size() > 0 && f.commits > 0 {
		pageSize, pages = int(f.pageSize), 1 // its first page is damaged
	}
	if f.has(unsummed) {
		g.opt.Log.Warn("checksums of the database could not be written when it was used last; they are made again",
			"file", g.path)
		if err := forgetSums(g.check); err != nil {
			return nil, err
		}
	}
	uses := f.loss == nil || f.loss.wal != useNone
	s := &scan{main: g.open.main, check: g.check, pageSize: pageSize, next: 1, last: pages}
	if f.wal.pages > 0 && uses {
		s.last = f.wal.pages
	}
	if pageSize == 0 {
		s.last = 0
	}
	s.live = func(page uint32) (bool, error) {
		_, ok := f.wal.of[page]
		return ok && uses, nil
	}
	lost := f.loss != nil && !f.loss.expected
	for !s.done() && (lost || f.others || len(s.damaged) > 0 || g.opt.Accept != "" || s.bytes() < g.opt.Pages) {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// judge adds damaged pages to the loss. An unexpected loss is an error unless it is accepted.
func (g *Guard) judge(f *state, s *scan) error {
	if s.sectors > 0 {
		g.opt.Log.Warn("checksums of the database were damaged; they are made again. Check the disk",
			"file", g.check.Name(), "sectors", s.sectors)
	}
	if f.others && f.loss == nil {
		if err := g.acceptOthers(f, s); err != nil {
			return err
		}
	}
	if len(s.damaged) > 0 {
		f.loss = g.withPages(f.loss, s)
	}
	loss := f.loss
	switch {
	case loss == nil:
		return nil
	case loss.expected && loss.Pages == 0:
		g.opt.Log.Warn("acknowledged commits are missing: commits are not synced, and the power may have failed",
			"reason", loss.Reason, "commits", loss.Commits, "after", loss.After, "until", loss.Until)
		return g.use(f)
	case g.opt.Accept == "" || g.opt.Accept != loss.Code:
		return loss
	}
	if err := g.setAside(f); err != nil {
		return fmt.Errorf("set damaged files aside: %w", err)
	}
	g.accepted = loss
	g.opt.Log.Warn("acknowledged commits were dropped, as accepted", "reason", loss.Error(), "commits", loss.Commits,
		"after", loss.After, "until", loss.Until, "damaged files", loss.Aside)
	return errors.Join(s.acceptAll(), g.use(f))
}

// acceptOthers makes the checksums of pages that another program has changed.
func (g *Guard) acceptOthers(f *state, s *scan) error {
	changed := len(s.damaged)
	if f.moved || changed > 0 {
		g.opt.Log.Warn("another program, such as sqlite3, has copied commits of the database from its WAL; nothing is "+
			"lost, and the checksums of pages that it has changed are made again",
			"file", g.path, "changed pages", changed)
	}
	if changed > 0 {
		f.set(unproven, true)
		err := errors.Join(writeRecord(g.check, &f.record), g.check.Sync(), s.acceptAll())
		if err != nil {
			return err
		}
		s.damaged = nil
	}
	return nil
}

// withPages adds damaged pages to a loss.
func (g *Guard) withPages(loss *Loss, s *scan) *Loss {
	if loss == nil {
		loss = &Loss{Reason: filepath.Base(g.path) + " is damaged, or was changed by another program", Commits: -1}
	} else {
		copied := *loss
		loss = &copied
		loss.Reason += ", and " + filepath.Base(g.path) + " is damaged too"
	}
	loss.Pages, loss.Offset = len(s.damaged), int64(s.damaged[0]-1)*int64(s.pageSize)
	return loss.seal(loss.Code, s.damaged)
}

// begin writes the record of a database as it is, which counts as acknowledged.
func (g *Guard) begin(f *state, pageSize uint32) error {
	now, w := g.opt.Now().UnixMilli(), f.wal
	r := &record{
		serial: f.serial, commits: max(f.commits, w.commits), at: now, salts: w.salts, frames: w.frames, sum: w.sum,
		pageSize: pageSize, began: now, copiedAt: now,
	}
	r.before = r.commits - w.commits
	r.copiedCommits = r.before
	r.set(durable, g.opt.Durable)
	r.set(opening, w.frames == 0)
	r.set(unproven, f.has(unproven))
	// All slots, up to the checksums: another slot could hold a record that is no longer true, and
	// a mapped part that is not on the disk could not be written when that is full.
	_, err := g.check.WriteAt(make([]byte, sumsStart), 0)
	if err == nil && w.frames > 0 {
		_, err = g.addFrames(walState{salts: w.salts, frames: w.frames, pageSize: w.pageSize}, 0)
	}
	return errors.Join(err, writeRecord(g.check, r), writeRecord(g.check, r), g.check.Sync(),
		syncDir(filepath.Dir(g.path)))
}

// syncDir syncs the entries of a directory to disk.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // not supported
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
