package walguard

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // registers "sqlite"
)

// database is a guarded database with one table, whose row n is added by commit n.
type database struct {
	t     *testing.T
	path  string
	guard *Guard
	pool  *sql.DB
	conn  *sql.Conn
	side  *sql.Conn
	rows  int
}

// open opens a database, which may be new.
func open(t *testing.T, path string, opt Options) *database {
	t.Helper()
	d, err := tryOpen(t, path, opt)
	require.NoError(t, err)
	return d
}

func tryOpen(t *testing.T, path string, opt Options) (*database, error) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	// No guard is open yet, so this releases no locks.
	require.NoError(t, f.Close())
	guard, err := Open(path, opt)
	if err != nil {
		return nil, err
	}
	d := &database{t: t, path: path, guard: guard}
	// Syncs do not change the contents of files, from which tests make those after a power loss.
	d.pool, err = sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)&"+
		"_pragma=busy_timeout(10000)&_pragma=cache_size(20)&_pragma=synchronous(OFF)")
	require.NoError(t, err)
	d.conn, err = d.pool.Conn(t.Context())
	require.NoError(t, err)
	d.side, err = d.pool.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		if d.pool != nil {
			d.close()
		}
	})
	d.exec(`CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, data BLOB)`)
	require.NoError(t, guard.Acknowledge())
	require.NoError(t, d.conn.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM rows`).Scan(&d.rows))
	return d, nil
}

func (d *database) exec(query string, args ...any) {
	d.t.Helper()
	require.NoError(d.t, d.guard.Begin())
	_, err := d.conn.ExecContext(context.Background(), query, args...)
	require.NoError(d.t, err)
}

// commit adds a row of some bytes, changes others and acknowledges it.
func (d *database) commit(size int) {
	d.t.Helper()
	d.exec("BEGIN IMMEDIATE")
	d.rows++
	d.exec(`INSERT INTO rows VALUES (?, randomblob(?))`, d.rows, size)
	d.exec(`UPDATE rows SET data = randomblob(length(data)) WHERE id IN (?, ?)`, 1+rand.N(d.rows), 1+rand.N(d.rows))
	d.exec("COMMIT")
	require.NoError(d.t, d.guard.Acknowledge())
}

// rollBack writes frames that do not count.
func (d *database) rollBack() {
	d.exec("BEGIN IMMEDIATE")
	d.exec(`INSERT INTO rows VALUES (0, randomblob(200000))`)
	d.exec("ROLLBACK")
}

func (d *database) checkpoint(last bool) error {
	d.exec("BEGIN IMMEDIATE")
	defer d.exec("ROLLBACK")
	return d.guard.Checkpoint(last, func() (frames, copied int, err error) {
		var busy int
		row := d.side.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
		err = row.Scan(&busy, &frames, &copied)
		return frames, copied, err
	})
}

func (d *database) close() {
	require.NoError(d.t, d.checkpoint(true))
	d.closeOnly()
}

// closeOnly closes without a checkpoint through the guard.
func (d *database) closeOnly() {
	require.NoError(d.t, errors.Join(d.conn.Close(), d.side.Close(), d.pool.Close(), d.guard.Close()))
	d.pool = nil
}

// files are the contents of a database, its WAL and its check file.
type files struct{ main, wal, check []byte }

func (d *database) files() files {
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		if !errors.Is(err, os.ErrNotExist) {
			require.NoError(d.t, err)
		}
		return text
	}
	// The database file is read through the guard: closing another descriptor would release locks.
	main := make([]byte, 64<<20)
	n, err := d.guard.open.main.ReadAt(main, 0)
	require.Error(d.t, err, "the end of the file")
	return files{main[:n], read(d.path + "-wal"), read(d.path + "-check")}
}

// put writes files to a new folder and returns the path of the database.
func (f files) put(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "x.db")
	for name, text := range map[string][]byte{path: f.main, path + "-wal": f.wal, path + "-check": f.check} {
		if text != nil {
			require.NoError(t, os.WriteFile(name, text, 0o600))
		}
	}
	return path
}

// requireRows opens files and checks that they have at least some rows and are consistent.
func (f files) requireRows(t *testing.T, opt Options, least int) {
	t.Helper()
	d := open(t, f.put(t), opt)
	require.GreaterOrEqual(t, d.rows, least)
	var found string
	require.NoError(t, d.conn.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&found))
	require.Equal(t, "ok", found)
	d.close()
}

func lossOf(t *testing.T, err error) *Loss {
	t.Helper()
	var loss *Loss
	require.ErrorAs(t, err, &loss)
	return loss
}

var durableOptions = Options{Durable: true, Pages: 1 << 30, Frames: 40}

// The error counts the missing commits.
func TestLossIsCounted(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "x.db"), durableOptions)
	var ends []int64
	for range 10 {
		d.commit(3000)
		ends = append(ends, int64(len(d.files().wal)))
	}
	whole := d.files()
	flipped := func(at int64) files {
		f := whole
		f.wal = bytes.Clone(whole.wal)
		f.wal[at] ^= 1
		return f
	}
	cut := func(size int64) files {
		f := whole
		f.wal = whole.wal[:size]
		return f
	}
	other := open(t, filepath.Join(t.TempDir(), "x.db"), durableOptions)
	other.commit(10)
	for _, c := range []struct {
		name  string
		files files
		want  string
	}{
		{"the last commit", flipped(ends[9] - 100), `cut off at byte \d+: 1 acknowledged commit is missing, of 20`},
		{"the fourth", flipped(ends[2] + 30), `: 7 acknowledged commits are missing, from between 20.* and 20`},
		{"the third is cut off", cut(ends[2] - 1), `: 8 acknowledged commits are missing`},
		{"the head", flipped(5), `the head of x.db-wal is damaged: 11 acknowledged commits are missing`},
		{"the salts", flipped(20), `the head of x.db-wal is damaged: 11 acknowledged`},
		{"no WAL", files{main: whole.main, check: whole.check}, `x.db-wal is missing or empty; .*sqlite3.*: 11 ackn`},
		{"an empty WAL", cut(0), `x.db-wal is missing or empty`},
		{
			"another WAL",
			files{whole.main, other.files().wal, whole.check},
			`x.db-wal is of another database, or an older copy; .*: 11 ackn`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.files.put(t)
			_, err := tryOpen(t, path, durableOptions)
			require.Regexp(t, c.want, err.Error())
			loss := lossOf(t, err)

			opt := durableOptions
			opt.Accept = loss.Code
			d, err := tryOpen(t, path, opt)
			require.NoError(t, err)
			require.Equal(t, int64(10-d.rows), min(loss.Commits, 10))
			require.FileExists(t, filepath.Join(d.guard.Accepted().Aside, "x.db-check"))
			d.commit(10)
			d.files().requireRows(t, durableOptions, d.rows)
		})
	}
	whole.requireRows(t, durableOptions, 10)
}

// A WAL that has older versions of pages than the database file is not used.
func TestWALOlderThanTheDatabase(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "x.db"), durableOptions)
	for range 10 {
		d.commit(3000)
	}
	require.NoError(t, d.checkpoint(false))
	f := d.files()
	f.wal[len(f.wal)/2] ^= 1
	path := f.put(t)
	_, err := tryOpen(t, path, durableOptions)
	require.ErrorContains(t, err, "newer commits than its intact part: no acknowledged commit is missing without")
	opt := durableOptions
	opt.Accept = lossOf(t, err).Code
	require.Equal(t, 10, open(t, path, opt).rows)
}

// Pages of the database file are compared with what was copied to them.
func TestChangedPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	d := open(t, path, durableOptions)
	for range 100 {
		d.commit(3000)
		if d.guard.Due() {
			require.NoError(t, d.checkpoint(false))
		}
	}
	d.close()
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	check, err := os.ReadFile(path + "-check")
	require.NoError(t, err)
	const pageSize = 4096
	for _, at := range []int{0, 30, 100, pageSize * 20, len(whole) - 1} {
		f := files{main: bytes.Clone(whole), check: check}
		f.main[at] ^= 0x80
		path := f.put(t)
		_, err := tryOpen(t, path, durableOptions)
		want := fmt.Sprintf("1 page differs from what was written, the first at byte %d", at/pageSize*pageSize)
		require.ErrorContains(t, err, want)

		// The same damage, found while the database is in use, has the same code.
		found := make(chan *Loss, 1)
		later := durableOptions
		later.Pages, later.Damaged = 0, func(l *Loss) { found <- l }
		g, errLater := Open(path, later)
		require.NoError(t, errLater)
		require.Equal(t, lossOf(t, err), <-found)
		require.NoError(t, g.Close())
		opt := durableOptions
		opt.Accept = lossOf(t, err).Code
		g, err = Open(path, opt)
		require.NoError(t, err)
		require.NoError(t, g.Close())
		g, err = Open(path, durableOptions)
		require.NoError(t, err, "accepted once")
		require.NoError(t, g.Close())
	}
	cut := files{main: whole[:len(whole)-3*pageSize], check: check}
	_, err = tryOpen(t, cut.put(t), durableOptions)
	require.ErrorContains(t, err, "3 pages differ")
	_, err = tryOpen(t, files{check: check}.put(t), durableOptions)
	require.Regexp(t, `x.db is missing or empty: 101 acknowledged commits`, err.Error())
}

// Damage of the check file is repaired, which has no effect on the database.
func TestDamagedCheckFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	d := open(t, path, durableOptions)
	for range 100 {
		d.commit(3000)
	}
	require.NoError(t, d.checkpoint(false))
	d.commit(100)
	f := d.files()
	for at := range f.check {
		if at%13 > 0 || at >= slots*slotSize && at < sumsStart {
			continue
		}
		damaged := f
		damaged.check = bytes.Clone(f.check)
		damaged.check[at] ^= 0x40
		path := damaged.put(t)
		var lines bytes.Buffer
		opt := durableOptions
		opt.Log = slog.New(slog.NewTextHandler(&lines, nil))
		g, err := Open(path, opt)
		require.NoError(t, err)
		require.False(t, g.Created(), "the other record is used")
		require.NoError(t, g.Close())
		if at >= sumsStart {
			require.Contains(t, lines.String(), "checksums of the database were damaged")
			g, err = Open(path, durableOptions)
			require.NoError(t, err)
			require.NoError(t, g.Close())
		}
	}
	f.check = []byte("garbage")
	g, err := Open(f.put(t), durableOptions)
	require.NoError(t, err)
	require.True(t, g.Created())
	require.NoError(t, g.Close())
}

// Without a record, a WAL is refused if it has more after the damage than one torn commit.
func TestDamageWithoutRecord(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "x.db"), durableOptions)
	for range 10 {
		d.commit(3000)
	}
	f := d.files()
	f.check = nil
	f.requireRows(t, durableOptions, 10)
	f.wal = bytes.Clone(f.wal)
	f.wal[len(f.wal)-10] ^= 1
	f.requireRows(t, durableOptions, 9)
	f.wal[len(f.wal)/2] ^= 1
	_, err := tryOpen(t, f.put(t), durableOptions)
	require.Regexp(t, `damaged at byte \d+: [3-6] acknowledged commits are missing`, err.Error())
}

// Several processes that use one database raise no alarm, also when they are killed.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	a := open(t, path, durableOptions)
	b := open(t, path, Options{Durable: true, Pages: -1, Frames: 60})
	for n := range 300 {
		d := []*database{a, b}[rand.N(2)]
		d.rows = n
		d.commit(rand.N(5000))
		if rand.N(20) == 0 {
			require.NoError(t, d.checkpoint(false))
		}
		if n%10 == 0 {
			d.files().requireRows(t, durableOptions, n+1)
		}
	}
	a.close()
	b.close()
	open(t, path, durableOptions).close()
}

// SQLite copies the WAL with the last connection, also after a checkpoint that failed here.
func TestCloseWithoutCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	d := open(t, path, durableOptions)
	d.commit(5000)
	d.closeOnly()
	require.NoFileExists(t, path+"-wal")
	d = open(t, path, durableOptions)
	require.Equal(t, 1, d.rows)
	d.commit(5000)
	d.close()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text[len(text)-1] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, err = tryOpen(t, path, durableOptions)
	require.ErrorContains(t, err, "1 page differs", "checksums were made again")
}

// BenchmarkAcknowledge measures what the guard adds to a commit of a few pages.
func BenchmarkAcknowledge(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.db")
	require.NoError(b, os.WriteFile(path, nil, 0o600))
	guard, err := Open(path, durableOptions)
	require.NoError(b, err)
	pool, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(2000)&"+
		"_pragma=synchronous(OFF)")
	require.NoError(b, err)
	pool.SetMaxOpenConns(1)
	exec := func(query string) {
		_, err := pool.ExecContext(b.Context(), query)
		require.NoError(b, err)
	}
	exec(`CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB)`)
	require.NoError(b, guard.Acknowledge())
	took := []time.Duration{}
	for b.Loop() {
		began := time.Now()
		require.NoError(b, guard.Begin())
		before := time.Since(began)
		exec(`INSERT INTO rows VALUES (NULL, randomblob(8000))`)
		began = time.Now()
		require.NoError(b, guard.Acknowledge())
		took = append(took, before+time.Since(began))
	}
	slices.Sort(took)
	// The mean would measure what else the machine does.
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "median-ns/commit")
	require.NoError(b, errors.Join(pool.Close(), guard.Close()))
}
