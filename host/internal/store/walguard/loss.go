package walguard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Loss describes acknowledged commits that a database does not have, and pages that differ from the
// written ones. It is the error of [Open].
type Loss struct {
	// Reason names the damaged file and the position.
	Reason string
	// Commits is the number of acknowledged commits that are missing; -1 if it is unknown. After
	// and Until are the times between which they were acknowledged, zero if unknown.
	Commits      int64
	After, Until time.Time
	// Pages is the number of pages of the database file that differ, Offset the position of the
	// first.
	Pages  int
	Offset int64
	// Code accepts this loss and no other; see [Options].
	Code string
	// Aside is the folder to which the damaged files were copied when the loss was accepted.
	Aside string

	wal      walUse
	expected bool // a power loss explains it, and the commits were not synced
	// elsewhere means that the recorded frames are not in the WAL, from which another program may
	// have copied them.
	elsewhere bool
}

// walUse selects the use of the WAL when a loss is accepted.
type walUse int

const (
	// useIntact uses the WAL up to its last intact commit, as SQLite does.
	useIntact walUse = iota
	// useNone removes the WAL: the database file is newer than its intact part, or it belongs to
	// another database.
	useNone
)

// Error names the file, then what is missing.
func (l *Loss) Error() string {
	parts := []string{l.Reason}
	if l.Pages > 0 {
		parts = append(parts, fmt.Sprintf("%d %s from what was written, the first at byte %d",
			l.Pages, plural(int64(l.Pages), "page differs", "pages differ"), l.Offset))
	}
	if missing := l.Missing(); missing != "" {
		parts = append(parts, missing)
	}
	return strings.Join(parts, ": ")
}

// Missing describes the missing commits; "" if their number is unknown.
func (l *Loss) Missing() string {
	switch {
	case l.Commits < 0:
		return ""
	case l.Commits == 0:
		return "no acknowledged commit is missing without that file"
	}
	text := fmt.Sprintf("%d acknowledged %s missing", l.Commits, plural(l.Commits, "commit is", "commits are"))
	const layout = "2006-01-02 15:04:05 MST"
	switch until := l.Until.UTC().Format(layout); {
	case l.Until.IsZero():
	case l.Commits == 1:
		text += ", of " + until
	case l.After.IsZero():
		text += ", the last of " + until
	default:
		text += fmt.Sprintf(", from between %s and %s", l.After.UTC().Format(layout), until)
	}
	return text
}

func plural(n int64, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// seal sets the code, which depends on all facts.
func (l *Loss) seal(facts ...any) *Loss {
	sum := sha256.Sum256(fmt.Append(nil, l.Reason, l.Commits, l.Pages, l.Offset, facts))
	l.Code = hex.EncodeToString(sum[:4])
	return l
}

// mostRestarts is the number of times that a WAL may have been started again since the record: a
// power loss may have taken the records of the last half minute.
const mostRestarts = 1 << 16

// compare returns the loss of acknowledged commits, if any.
func compare(path string, r *record, w *wal) *Loss {
	file := filepath.Base(path) + "-wal"
	steps := w.salts[0] - r.salts[0] // of 32 bits, as SQLite counts
	switch {
	case w.empty() && r.complete(), !w.empty() && !w.header && r.complete():
		return nil // SQLite ignores such a file
	case w.empty():
		l := missing(r, file+" is missing or empty", useNone)
		l.elsewhere = true
		return l
	case !w.header:
		return missing(r, "the head of "+file+" is damaged", useNone)
	case w.salts == r.salts:
		return shortened(file, r, w)
	case 0 < steps && steps <= mostRestarts:
		return nil // started again, which SQLite does when the database file has all commits
	case r.has(opening) && r.complete():
		return nil // the first commit of a process was not acknowledged
	}
	l := exchanged(file, r, w)
	l.elsewhere = !r.complete()
	return l
}

// exchanged returns the loss of a WAL that does not continue the recorded one.
func exchanged(file string, r *record, w *wal) *Loss {
	l := missing(r, file+" is of another database, or an older copy", useNone)
	l.expected = false // no power loss exchanges files
	return l.seal(w.salts, w.sum)
}

// missing returns the loss of all commits in the WAL.
func missing(r *record, reason string, use walUse) *Loss {
	l := &Loss{
		Reason: reason, Commits: int64(r.commits - r.copiedCommits), Until: r.time(), wal: use,
		expected: !r.has(durable),
	}
	if r.copiedAt > 0 {
		l.After = time.UnixMilli(r.copiedAt).UTC()
	}
	return l.seal(r.serial, r.salts)
}

// shortened compares the intact frames of the recorded generation with the record.
func shortened(file string, r *record, w *wal) *Loss {
	switch {
	case w.frames >= r.frames && w.sumAt == r.sum:
		return nil
	case w.frames >= r.frames:
		return exchanged(file, r, w)
	}
	if r.copied <= w.frames {
		l := missing(r, fmt.Sprintf("%s is damaged or cut off at byte %d", file, w.end(w.frames)), useIntact)
		l.Commits = max(1, int64(r.commits-r.before-min(w.commits, r.commits-r.before)))
		l.After = time.UnixMilli(r.began).UTC()
		return l.seal(r.serial, r.salts, w.frames)
	}
	// The intact frames have older versions of pages than the database file.
	l := missing(r, fmt.Sprintf("%s is damaged or cut off at byte %d, and %s has newer commits than its intact part",
		file, w.end(w.frames), strings.TrimSuffix(file, "-wal")), useNone)
	return l.seal(r.serial, r.salts, w.frames)
}

// unrecorded judges a WAL without a record, at the first start with a guard or when the check file
// is damaged. Only one commit can be torn, as the next one is written when it is on the disk.
func unrecorded(path string, w *wal) *Loss {
	if w.lost < 2 {
		return nil
	}
	l := &Loss{
		Reason:  fmt.Sprintf("%s-wal is damaged at byte %d", filepath.Base(path), w.end(w.frames)),
		Commits: int64(w.lost), wal: useIntact,
	}
	return l.seal(w.salts, w.frames)
}
