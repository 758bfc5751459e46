package walguard

import (
	"bytes"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// program is another SQLite program, which does not use the guard.
type program struct {
	t  *testing.T
	db *sql.DB
}

func openProgram(t *testing.T, path string) *program {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	p := &program{t, db}
	p.exec(`SELECT COUNT(*) FROM rows`)
	return p
}

func (p *program) exec(query string) {
	p.t.Helper()
	_, err := p.db.ExecContext(p.t.Context(), query)
	require.NoError(p.t, err)
}

func (p *program) checkpoint(mode string) {
	p.t.Helper()
	var busy, frames, copied int
	row := p.db.QueryRowContext(p.t.Context(), "PRAGMA wal_checkpoint("+mode+")")
	require.NoError(p.t, row.Scan(&busy, &frames, &copied))
	require.Zero(p.t, busy)
	require.Equal(p.t, frames, copied)
}

func (p *program) close() {
	p.t.Helper()
	require.NoError(p.t, p.db.Close())
}

// change changes some rows, which the guarded process has written, too.
func (p *program) change() {
	p.exec(`UPDATE rows SET data = randomblob(length(data)) WHERE id IN (1, 2)`)
}

// filesAt reads the files of a database that is closed.
func filesAt(t *testing.T, path string) (f files) {
	for name, text := range map[string]*[]byte{path: &f.main, path + "-wal": &f.wal, path + "-check": &f.check} {
		var err error
		if *text, err = os.ReadFile(name); !os.IsNotExist(err) {
			require.NoError(t, err)
		}
	}
	return f
}

const copiesCommits = "another program, such as sqlite3, has copied commits of the database"

// Another program may copy the WAL at any time: nothing is lost, the next start succeeds with at
// most one warning. Afterwards damage is detected again.
func TestOtherProgramsCopyTheWAL(t *testing.T) {
	inUse := func(mode string) func(*database) {
		return func(d *database) {
			p := openProgram(d.t, d.path)
			p.checkpoint(mode)
			p.close()
		}
	}
	writes := func(d *database) {
		p := openProgram(d.t, d.path)
		p.exec("PRAGMA wal_autocheckpoint = 30")
		for range 5 {
			p.change()
			d.commit(rand.N(5000))
		}
		p.change()
		p.close()
	}
	none := func(*database) {}
	reads := func(t *testing.T, path string) { openProgram(t, path).close() }
	for _, c := range []struct {
		name   string
		inUse  func(d *database)
		killed func(t *testing.T, path string)
		warns  bool
	}{
		{"it closes the database after a kill", none, reads, true},
		{"it copies a part before", inUse("PASSIVE"), reads, true},
		{"it writes after a kill", none, func(t *testing.T, path string) {
			p := openProgram(t, path)
			p.change()
			p.exec(`CREATE TRIGGER x BEFORE INSERT ON rows BEGIN SELECT 1; END`)
			p.exec(`DROP TRIGGER x`)
			p.close()
		}, true},
		{"passive", inUse("PASSIVE"), nil, false},
		{"full", inUse("FULL"), nil, false},
		{"restart", inUse("RESTART"), nil, false},
		{"truncate", inUse("TRUNCATE"), nil, false},
		{"it writes and copies", writes, nil, false},
		{"it writes much", func(d *database) {
			p := openProgram(d.t, d.path)
			for range 3 {
				p.exec(`UPDATE rows SET data = randomblob(6000000) WHERE id = 1`)
			}
			p.exec(`UPDATE rows SET data = x'00' WHERE id = 1`)
			p.close()
		}, nil, false},
		{"it writes, and the database is closed", func(d *database) {
			writes(d)
			d.commit(100)
		}, reads, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, filepath.Join(t.TempDir(), "x.db"), durableOptions)
			for range 20 {
				d.commit(rand.N(5000))
			}
			c.inUse(d)
			// Right after it, and after further commits with and without checkpoints.
			for range 4 {
				path := d.files().put(t)
				if c.killed != nil {
					c.killed(t, path)
				}
				var lines bytes.Buffer
				opt := durableOptions
				opt.Log = slog.New(slog.NewTextHandler(&lines, nil))
				filesAt(t, path).requireRows(t, opt, d.rows)
				if c.warns {
					require.Contains(t, lines.String(), copiesCommits)
				}
				require.LessOrEqual(t, strings.Count(lines.String(), "level=WARN"), 1, lines.String())
				requireDetection(t, path, d.rows)
				for range rand.N(20) {
					d.commit(rand.N(5000))
				}
				if d.guard.Due() {
					require.NoError(t, d.checkpoint(false))
				}
				d.commit(100)
			}
		})
	}
}

// requireDetection opens a database and then finds a changed byte in it.
func requireDetection(t *testing.T, path string, rows int) {
	t.Helper()
	d := open(t, path, durableOptions)
	require.GreaterOrEqual(t, d.rows, rows)
	d.commit(100)
	d.close()
	open(t, path, durableOptions).close()
	f := filesAt(t, path)
	require.Empty(t, f.wal)
	f.main[rand.N(len(f.main)/4096)*4096+rand.N(4096)] ^= 1
	_, err := tryOpen(t, f.put(t), durableOptions)
	require.Error(t, err)
	require.Regexp(t, `pages? differs?`, err.Error(), "more if its head has another page size")
}

// A WAL that is removed before the database has all its commits is a loss, whatever another program
// has copied before.
func TestRemovedWALIsALoss(t *testing.T) {
	for range 20 {
		d := open(t, filepath.Join(t.TempDir(), "x.db"), durableOptions)
		for range 1 + rand.N(30) {
			d.commit(rand.N(5000))
		}
		require.NoError(t, d.checkpoint(false))
		for range 1 + rand.N(10) {
			d.commit(rand.N(5000))
		}
		before := d.files()
		before.wal = nil
		_, err := tryOpen(t, before.put(t), durableOptions)
		require.ErrorContains(t, err, "x.db does not have its commits")

		// A reader lets the other program copy only a part.
		reader, err := d.pool.Conn(t.Context())
		require.NoError(t, err)
		_, err = reader.ExecContext(t.Context(), "BEGIN")
		require.NoError(t, err)
		var n int
		require.NoError(t, reader.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM rows").Scan(&n))
		for range 1 + rand.N(10) {
			d.commit(rand.N(5000))
		}
		p := openProgram(t, d.path)
		p.exec("PRAGMA wal_checkpoint(PASSIVE)")
		if rand.N(2) == 0 {
			require.NoError(t, d.checkpoint(false))
		}
		part := d.files()
		_, err = reader.ExecContext(t.Context(), "ROLLBACK")
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		part.wal = nil
		_, err = tryOpen(t, part.put(t), durableOptions)
		require.Error(t, err)
		require.Contains(t, lossOf(t, err).Reason, "missing or empty")

		// The other program is killed while it copies. It does this in the order of pages.
		part = d.files()
		p.checkpoint("PASSIVE")
		whole := d.files()
		p.close()
		require.Equal(t, part.wal, whole.wal)
		var last int
		for at := 0; at < len(whole.main); at += 4096 {
			if at >= len(part.main) || !bytes.Equal(part.main[at:at+4096], whole.main[at:at+4096]) {
				last = at
			}
		}
		cut := rand.N(last/4096+1) * 4096
		torn := bytes.Clone(whole.main)
		copy(torn[cut:], part.main[min(cut, len(part.main)):])
		if len(part.main) < len(torn) {
			torn = torn[:max(cut, len(part.main))]
		}
		_, err = tryOpen(t, files{main: torn, check: part.check}.put(t), durableOptions)
		require.Error(t, err)
		files{main: whole.main, check: whole.check}.requireRows(t, durableOptions, d.rows)
	}
}

// SQLite leaves a hole for a new page that it may not copy yet, if it copies one behind it. That
// page is missing, not changed by another program.
func TestRemovedWALWithHole(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "x.db"), durableOptions)
	require.NoError(t, d.checkpoint(false))
	d.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 4)
		INSERT INTO rows SELECT i, randomblob(3000) FROM n`)
	require.NoError(t, d.guard.Acknowledge())
	reader, err := d.pool.Conn(t.Context())
	require.NoError(t, err)
	_, err = reader.ExecContext(t.Context(), "BEGIN; SELECT COUNT(*) FROM rows")
	require.NoError(t, err)
	d.exec(`UPDATE rows SET data = randomblob(3000) WHERE id = 2`)
	require.NoError(t, d.guard.Acknowledge())
	p := openProgram(t, d.path)
	p.exec("PRAGMA wal_checkpoint(PASSIVE)")
	f := d.files()
	require.True(t, slices.ContainsFunc(slices.Collect(slices.Chunk(f.main, 4096)), func(page []byte) bool {
		return bytes.Equal(page, make([]byte, 4096))
	}), "a hole")
	p.close()
	f.wal = nil
	_, err = tryOpen(t, f.put(t), durableOptions)
	require.ErrorContains(t, err, "x.db does not have its commits")
	require.NoError(t, reader.Close())
}

// A page that returns to its previous content does not hide the loss of other pages.
func TestRemovedWALWithEqualPages(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "x.db"), durableOptions)
	for range 100 {
		d.commit(1000)
	}
	require.NoError(t, d.checkpoint(false))
	d.exec(`UPDATE rows SET data = randomblob(length(data)) WHERE id = 1`)
	require.NoError(t, d.guard.Acknowledge())
	for _, state := range []int{1, 0} {
		d.exec(fmt.Sprintf(`PRAGMA user_version = %d`, state))
		require.NoError(t, d.guard.Acknowledge())
	}
	f := d.files()
	f.wal = nil
	_, err := tryOpen(t, f.put(t), durableOptions)
	require.ErrorContains(t, err, "x.db does not have its commits")
}

// Programs that keep a database open while its process is killed and starts again raise no alarm.
func TestOtherProgramStaysOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	open(t, path, durableOptions).close()
	for round := range 30 {
		d := open(t, path, durableOptions)
		rows := d.rows
		p := openProgram(t, path)
		for range rand.N(40) {
			// Without pages that the other program leaves, a copy looks like a loss.
			d.commit(9000 + rand.N(5000))
			switch rand.N(8) {
			case 0:
				p.change()
			case 1:
				p.checkpoint([]string{"PASSIVE", "FULL", "RESTART", "TRUNCATE"}[rand.N(4)])
			case 2:
				require.NoError(t, d.checkpoint(false))
			}
			rows = d.rows
		}
		if round%2 == 0 {
			d.close()
			p.change()
			p.close()
		} else {
			p.change()
			killed := d.files()
			p.close()
			d.close()
			path = killed.put(t)
			if rand.N(2) == 0 {
				openProgram(t, path).close()
			}
		}
		d = open(t, path, durableOptions)
		require.GreaterOrEqual(t, d.rows, rows)
		d.close()
	}
}
