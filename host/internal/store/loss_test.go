package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

const editVariable = "EASEL_STORE_EDITOR"

// trials is the number of trials of a test of damaged or killed stores: EASEL_LOSS_TRIALS, or few.
func trials(t *testing.T, few int) int {
	text := os.Getenv("EASEL_LOSS_TRIALS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

var errRolledBack = errors.New("rolled back")

// editForever is a child process that creates and changes canvases of many sizes, rolls back large
// transactions, whose frames stay in the WAL, and prints each acknowledged revision.
func editForever(dir string) error {
	s, err := Open(context.Background(), Config{Dir: dir})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx := context.Background(); ; {
				size := rand.N(30_000)
				if rand.N(40) == 0 {
					size = 3 << 20 // more than the cache
				}
				c, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", DSL: make([]byte, rand.N(8000))}, "")
				if err != nil {
					return
				}
				fmt.Println(c.ID, c.Rev)
				for range rand.N(6) {
					if c, err = s.Canvases.Edit(ctx, "t", c.ID, "", func(c *Canvas) error {
						c.DSL = append(make([]byte, size), byte(rand.N(256)))
						return nil
					}); err != nil {
						return
					}
					fmt.Println(c.ID, c.Rev)
				}
				if rand.N(30) == 0 {
					_ = s.write(ctx, "roll back", func(ctx context.Context, q querier) error {
						_, err := q.ExecContext(ctx, `UPDATE canvases SET dsl = randomblob(100000)`)
						return errors.Join(err, errRolledBack)
					})
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// killed lets a child work on a data directory until it has acknowledged some revisions, kills it
// and adds them to acked. It returns what the directory held in the middle of its work.
func killed(t *testing.T, dir string, acked map[string]int64, lines int) (middle map[string][]byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), editVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	in := bufio.NewReader(out)
	for n := 0; ; n++ {
		if n == lines/2 {
			middle = readFiles(t, dir)
		}
		if n == lines {
			require.NoError(t, cmd.Process.Kill())
		}
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		id, rev, _ := strings.Cut(strings.TrimSpace(line), " ")
		r, err := strconv.ParseInt(rev, 10, 64)
		require.NoError(t, err)
		acked[id] = max(acked[id], r)
	}
	require.Error(t, cmd.Wait())
	return middle
}

// readFiles returns the files of a data directory that SQLite and the guard write.
func readFiles(t *testing.T, dir string) map[string][]byte {
	files := map[string][]byte{}
	for _, name := range []string{"easel.db", "easel.db-wal", "easel.db-check", "secret.key"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if !errors.Is(err, os.ErrNotExist) {
			require.NoError(t, err)
			files[name] = text
		}
	}
	return files
}

func writeFiles(t *testing.T, dir string, files map[string][]byte) {
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for name, text := range files {
		if text != nil {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
		}
	}
}

// revision describes a stored canvas.
type revision struct {
	rev  int64
	hash [32]byte
}

// revisions returns all canvases of a data directory.
func revisions(ctx context.Context, cfg Config) (map[string]revision, error) {
	s, err := Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	type named struct {
		id string
		revision
	}
	list, err := queryAll(ctx, s.read, func(r row) (n named, err error) {
		var dsl []byte
		err = r.Scan(&n.id, &n.rev, &dsl)
		n.hash = sha256.Sum256(dsl)
		return n, err
	}, `SELECT id, rev, dsl FROM canvases`)
	of := map[string]revision{}
	for _, n := range list {
		of[n.id] = n.revision
	}
	return of, errors.Join(fail(err, "read"), s.Close())
}

// lostRevision returns an acknowledged revision that is missing or differs, if any.
func lostRevision(acked map[string]int64, whole, got map[string]revision) string {
	for id, rev := range acked {
		switch r, ok := got[id]; {
		case !ok:
			return id + " is missing"
		case r.rev < rev:
			return fmt.Sprintf("%s has revision %d, %d was acknowledged", id, r.rev, rev)
		case r.rev == whole[id].rev && r.hash != whole[id].hash:
			return id + " has another document"
		}
	}
	return ""
}

// A mutation damages files. other has the files of another store, middle those of the same
// one at an earlier time.
type mutation struct {
	name string
	do   func(files, middle, other map[string][]byte)
}

func flipByte(name string) func(files, _, _ map[string][]byte) {
	return func(files, _, _ map[string][]byte) {
		if text := files[name]; len(text) > 0 {
			text[rand.N(len(text))] ^= byte(1 + rand.N(255))
		}
	}
}

func cutOff(name string) func(files, _, _ map[string][]byte) {
	return func(files, _, _ map[string][]byte) { files[name] = files[name][:rand.N(len(files[name])+1)] }
}

func zeroed(name string) func(files, _, _ map[string][]byte) {
	return func(files, _, _ map[string][]byte) {
		if text := files[name]; len(text) > 0 {
			at := rand.N(len(text)) &^ 511
			clear(text[at:min(len(text), at+512<<rand.N(4))])
		}
	}
}

func without(name string) func(files, _, _ map[string][]byte) {
	return func(files, _, _ map[string][]byte) { files[name] = nil }
}

func older(names ...string) func(files, middle, _ map[string][]byte) {
	return func(files, middle, _ map[string][]byte) {
		for _, name := range names {
			files[name] = append([]byte(nil), middle[name]...)
		}
	}
}

func foreign(names ...string) func(files, _, other map[string][]byte) {
	return func(files, _, other map[string][]byte) {
		for _, name := range names {
			files[name] = append([]byte(nil), other[name]...)
		}
	}
}

const dbFile, walFile, checkFile = "easel.db", "easel.db-wal", "easel.db-check"

var mutations = []mutation{
	{"a byte of the WAL", flipByte(walFile)},
	{"a byte of the WAL", flipByte(walFile)},
	{"a byte of the WAL", flipByte(walFile)},
	{"a bit of the WAL", func(files, _, _ map[string][]byte) {
		if text := files[walFile]; len(text) > 0 {
			text[rand.N(len(text))] ^= 1 << rand.N(8)
		}
	}},
	{"a byte of the head of the WAL", func(files, _, _ map[string][]byte) {
		if text := files[walFile]; len(text) > 32 {
			text[rand.N(32)] ^= byte(1 + rand.N(255))
		}
	}},
	{"sectors of the WAL", zeroed(walFile)},
	{"the end of the WAL", cutOff(walFile)},
	{"an empty WAL", func(files, _, _ map[string][]byte) { files[walFile] = []byte{} }},
	{"a WAL of zeros", func(files, _, _ map[string][]byte) { clear(files[walFile]) }},
	{"no WAL", without(walFile)},
	{"an older WAL", older(walFile)},
	{"another WAL", foreign(walFile)},
	{"a byte of the database", flipByte(dbFile)},
	{"sectors of the database", zeroed(dbFile)},
	{"the end of the database", cutOff(dbFile)},
	{"an older database", older(dbFile)},
	{"an older database and WAL", older(dbFile, walFile)},
	{"another database", foreign(dbFile)},
	{"another database and WAL", foreign(dbFile, walFile)},
	{"a byte of the check file", flipByte(checkFile)},
	{"sectors of the check file", zeroed(checkFile)},
	{"no check file", without(checkFile)},
}

// Whatever happens to the files of a killed store: it refuses to start, or nothing that was
// acknowledged is missing.
func TestDamageIsNeverSilent(t *testing.T) {
	n := trials(t, 66)
	other := t.TempDir()
	killed(t, other, map[string]int64{}, 40)
	refused, whole, accepted := map[string]int{}, map[string]int{}, 0
	const perStore = 50
	for store := range (n + perStore - 1) / perStore {
		dir, acked := t.TempDir(), map[string]int64{}
		var middle map[string][]byte
		for range 1 + store%3 { // kills in a row
			middle = killed(t, dir, acked, 20+rand.N(150))
		}
		files := readFiles(t, dir)
		copied := filepath.Join(dir, "whole")
		writeFiles(t, copied, files)
		all, err := revisions(t.Context(), Config{Dir: copied})
		require.NoError(t, err)
		require.Empty(t, lostRevision(acked, all, all), "without damage")
		for trial := range min(perStore, n-store*perStore) {
			m := mutations[(store*perStore+trial)%len(mutations)]
			damaged := map[string][]byte{}
			for name, text := range files {
				damaged[name] = append([]byte(nil), text...)
			}
			m.do(damaged, middle, readFiles(t, other))
			cfg := Config{Dir: filepath.Join(dir, fmt.Sprint(trial))}
			writeFiles(t, cfg.Dir, damaged)
			got, err := revisions(t.Context(), cfg)
			switch {
			case err == nil:
				require.Empty(t, lostRevision(acked, all, got), "silently, with %s", m.name)
				whole[m.name]++
			case errors.Is(err, ErrLost):
				refused[m.name]++
				if trial%4 == 0 && acceptLoss(t, cfg, err) {
					accepted++
				}
			default:
				require.ErrorIs(t, err, ErrCorrupt, m.name)
				refused[m.name]++
			}
			require.NoError(t, os.RemoveAll(cfg.Dir))
		}
	}
	t.Logf("refused: %v", refused)
	t.Logf("nothing missing: %v", whole)
	t.Logf("%d accepted losses", accepted)
}

// acceptLoss opens a store whose loss was reported, twice, and reports whether it has a consistent
// rest.
func acceptLoss(t *testing.T, cfg Config, loss error) bool {
	_, code, found := strings.Cut(loss.Error(), "--accept-loss ")
	require.True(t, found, loss)
	code, _, _ = strings.Cut(code, " ")
	wrong := cfg
	wrong.AcceptLoss = "00000000"
	_, err := revisions(t.Context(), wrong)
	require.ErrorIs(t, err, ErrLost, "with another code")
	cfg.AcceptLoss = code
	if _, err = revisions(t.Context(), cfg); err != nil {
		require.ErrorIs(t, err, ErrCorrupt, "the rest is not usable")
		return false
	}
	aside, err := filepath.Glob(filepath.Join(cfg.Dir, "easel.db-lost-*"))
	require.NoError(t, err)
	require.Len(t, aside, 1)
	require.FileExists(t, filepath.Join(aside[0], checkFile))
	cfg.AcceptLoss = ""
	_, err = revisions(t.Context(), cfg)
	require.NoError(t, err, "the next start needs no code")
	return true
}

// A store that was only killed starts with everything that was acknowledged.
func TestKillsRaiseNoAlarm(t *testing.T) {
	dir, acked := t.TempDir(), map[string]int64{}
	for n := range trials(t, 12) {
		killed(t, dir, acked, rand.N(40))
		all, err := revisions(t.Context(), Config{Dir: dir})
		require.NoError(t, err)
		require.Empty(t, lostRevision(acked, all, all))
		if n%10 == 9 {
			require.NoError(t, os.RemoveAll(dir))
			clear(acked)
		}
	}
}

// Pages behind the first of a large database are compared while it is in use.
func TestDamageIsFoundInUse(t *testing.T) {
	cfg := Config{Dir: t.TempDir(), verifyFirst: 1}
	found := make(chan error, 1)
	cfg.Damaged = func(err error) { found <- err }
	s, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	for range 300 {
		_, err := s.Canvases.Create(t.Context(), Canvas{Tenant: "t", DSL: make([]byte, 3000)}, "")
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	file := filepath.Join(cfg.Dir, dbFile)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	text[len(text)-1] ^= 1
	require.NoError(t, os.WriteFile(file, text, 0o600))
	s, err = Open(t.Context(), cfg)
	require.NoError(t, err)
	err = <-found
	require.NoError(t, s.Close())
	require.ErrorIs(t, err, ErrLost)
	require.ErrorContains(t, err, "1 page differs")
	require.ErrorContains(t, err, "--accept-loss")
}

// Commands of an operator who has removed the check file are served, with a warning.
func TestMissingCheckFileIsReported(t *testing.T) {
	cfg := Config{Dir: t.TempDir()}
	var lines bytes.Buffer
	cfg.Log = slog.New(slog.NewTextHandler(&lines, nil))
	for range 2 {
		require.NoError(t, openTest(t, cfg).Close())
	}
	require.Empty(t, lines.String())
	require.NoError(t, os.Remove(filepath.Join(cfg.Dir, checkFile)))
	require.NoError(t, openTest(t, cfg).Close())
	require.Contains(t, lines.String(), "whether acknowledged records are missing is unknown")
	lines.Reset()
	require.NoError(t, openTest(t, cfg).Close())
	require.Empty(t, lines.String())
}

// Protections that a PostgreSQL server has switched off are logged.
func TestServerWithoutProtections(t *testing.T) {
	cfg := engineConfig(t, "postgres")
	var lines bytes.Buffer
	cfg.Log = slog.New(slog.NewTextHandler(&lines, nil))
	s := openTest(t, cfg)
	for _, setting := range []string{"data_checksums", "fsync", "full_page_writes"} {
		var value string
		require.NoError(t, s.read.QueryRowContext(t.Context(), "SHOW "+setting).Scan(&value))
		require.Equal(t, value == "off", strings.Contains(lines.String(), "setting="+setting), setting)
	}
	require.Contains(t, lines.String(), "setting=", "the server of the tests has none")
}

// Another SQLite program that uses the database while a host runs and after it was killed raises no
// alarm and hides no loss.
func TestOtherProgramsRaiseNoAlarm(t *testing.T) {
	dir, acked := t.TempDir(), map[string]int64{}
	require.NoError(t, openTest(t, Config{Dir: dir}).Close())
	for n := range trials(t, 12) {
		other, err := sql.Open("sqlite", sqliteDSN(filepath.Join(dir, dbFile), "busy_timeout(10000)"))
		require.NoError(t, err)
		other.SetMaxOpenConns(1)
		ctx := t.Context()
		var stop atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			for !stop.Load() {
				if info, err := os.Stat(filepath.Join(dir, walFile)); err != nil || info.Size() == 0 {
					continue // what is written before the host starts counts as damage
				}
				mode := []string{"PASSIVE", "FULL", "RESTART", "TRUNCATE"}[rand.N(4)]
				// Errors are expected while the host has locks.
				_, _ = other.ExecContext(ctx, "PRAGMA wal_checkpoint("+mode+")")
				_, _ = other.ExecContext(ctx, `UPDATE meta SET value = value`)
				_, _ = other.ExecContext(ctx, `INSERT INTO meta VALUES (?, '')`, fmt.Sprint(rand.Uint64()))
			}
		})
		killed(t, dir, acked, 20+rand.N(60))
		stop.Store(true)
		wg.Wait()
		files := readFiles(t, dir)
		query := `SELECT COUNT(*) FROM canvases`
		if n%3 > 0 {
			query = `UPDATE meta SET value = value || 'x' WHERE name = 'other'`
		}
		_, err = other.ExecContext(ctx, query)
		require.NoError(t, err)
		require.NoError(t, other.Close())
		require.NoFileExists(t, filepath.Join(dir, walFile))

		files[walFile] = nil
		removed := filepath.Join(t.TempDir(), "removed")
		writeFiles(t, removed, files)
		whole, err := revisions(t.Context(), Config{Dir: dir})
		require.NoError(t, err)
		require.Empty(t, lostRevision(acked, whole, whole))
		if got, err := revisions(t.Context(), Config{Dir: removed}); err == nil {
			require.Empty(t, lostRevision(acked, whole, got), "without the WAL")
		} else {
			require.ErrorIs(t, err, ErrLost)
		}
	}
}
