package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDumpMovesEngines dumps from each engine and loads into the other.
func TestDumpMovesEngines(t *testing.T) {
	for _, way := range [][2]string{{"sqlite", "postgres"}, {"postgres", "sqlite"}} {
		t.Run(way[0]+" to "+way[1], func(t *testing.T) {
			ctx := t.Context()
			fromCfg := engineConfig(t, way[0])
			from := openTest(t, fromCfg)
			u, err := from.Users.Create(ctx, User{Email: "a@b"}, "pw")
			require.NoError(t, err)
			c, err := from.Canvases.Create(
				ctx,
				Canvas{Tenant: "t", Title: "Ü", DSL: []byte("\xff\x00<>"), Publication: Publication{Released: true}},
				"v",
			)
			require.NoError(t, err)
			_, err = from.Canvases.Create(ctx, Canvas{ID: "empty", Tenant: "t"}, "")
			require.NoError(t, err)
			v, err := from.Sessions.Create(
				ctx,
				Session{Tenant: "t", Version: "v", DSL: []byte("{}"), Messages: []byte("[]"), Reference: []byte("1")},
			)
			require.NoError(t, err)
			require.NoError(t, from.Secrets.Put(ctx, "t", "k", []byte("v"), []string{"a.example", "*.b.example:8443"}))
			b, err := from.Betas.For(ctx, "t", c.ID)
			require.NoError(t, err)

			var dump bytes.Buffer
			require.NoError(t, from.Dump(ctx, &dump))
			require.NotContains(t, dump.String(), b.Text)
			require.NoError(t, CheckDump(ctx, bytes.NewReader(dump.Bytes())))
			toCfg := engineConfig(t, way[1])
			toCfg.KeyFile = filepath.Join(fromCfg.Dir, "secret.key")
			to := openTest(t, toCfg)
			require.NoError(t, to.Load(ctx, bytes.NewReader(dump.Bytes())))

			c2, err := to.Canvases.Get(ctx, "t", c.ID)
			require.NoError(t, err)
			require.Equal(t, c, c2)
			require.True(t, c2.Released)
			published, err := to.Canvases.Version(ctx, "t", c2.Published)
			require.NoError(t, err)
			require.Equal(t, c.DSL, published.DSL)
			v2, err := to.Sessions.Get(ctx, "t", v.ID)
			require.NoError(t, err)
			require.Equal(t, v, v2)
			u2, err := to.Users.ByPassword(ctx, "a@b", "pw")
			require.NoError(t, err)
			require.Equal(t, u, u2)
			secret, hosts, err := to.Secrets.OpenBound(ctx, "t", "k")
			require.NoError(t, err)
			require.Equal(t, []string{"a.example", "*.b.example:8443"}, hosts)
			require.Equal(t, "v", string(secret))
			b2, err := to.Betas.For(ctx, "t", c.ID)
			require.NoError(t, err)
			require.Equal(t, b, b2)

			require.ErrorIs(t, to.Load(ctx, bytes.NewReader(dump.Bytes())), ErrExists)
		})
	}
}

func TestLoadRejectsInvalidDumps(t *testing.T) {
	ctx := t.Context()
	cfg := engineConfig(t, "sqlite")
	from := openTest(t, cfg)
	_, err := from.Tenants.Put(ctx, Tenant{Name: "x"})
	require.NoError(t, err)
	var dump bytes.Buffer
	require.NoError(t, from.Dump(ctx, &dump))
	head, rest, _ := strings.Cut(dump.String(), "\n")
	schema := regexp.MustCompile(`"schema":\d+`)
	tests := []struct {
		name, text string
		key        string
		err        error
	}{
		{"not a dump", "PK\x03\x04", cfg.Dir, ErrCorrupt},
		{"a dump of a newer version", schema.ReplaceAllString(head, `"schema":99`) + "\n" + rest, cfg.Dir, ErrNewer},
		{"a dump sealed with another key", dump.String(), "", ErrWrongKey},
		{"truncated dump", dump.String()[:dump.Len()-20], cfg.Dir, ErrCorrupt},
		{"unknown table", head + "\n" + `{"table":"meta","columns":["name"]}`, cfg.Dir, ErrCorrupt},
		{"SQL as column name", head + "\n" + `{"table":"users","columns":["id) SELECT 1; --"]}`, cfg.Dir, ErrCorrupt},
		{"a row before its table", head + "\n[1]", cfg.Dir, ErrCorrupt},
		{"an empty row before its table", head + "\n[]", cfg.Dir, ErrCorrupt},
		{"no tables", head + "\n", cfg.Dir, ErrCorrupt},
		{"cut before a table", dump.String()[:strings.LastIndex(dump.String(), `{"table"`)], cfg.Dir, ErrCorrupt},
		{"a table without its key", lacking(dump.String(), "tenants", "id"), cfg.Dir, ErrCorrupt},
		{"a table without a column", lacking(dump.String(), "tenants", "tokens_per_day"), cfg.Dir, ErrCorrupt},
		{"a table without rows and a column", lacking(dump.String(), "runs", "principal"), cfg.Dir, ErrCorrupt},
		{"row with another number of columns", head + "\n" + `{"table":"tenants","columns":["id"]}` + "\n[1,2]", cfg.Dir, ErrCorrupt},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			to := engineConfig(t, "sqlite")
			if test.key != "" {
				to.KeyFile = filepath.Join(test.key, "secret.key")
			}
			s := openTest(t, to)
			require.ErrorIs(t, s.Load(ctx, strings.NewReader(test.text)), test.err)
			if !errors.Is(test.err, ErrWrongKey) { // CheckDump has no key to compare with
				require.ErrorIs(t, CheckDump(ctx, strings.NewReader(test.text)), test.err)
			}
			again := &bytes.Buffer{}
			require.NoError(t, s.Dump(ctx, again))
			require.NotContains(t, again.String(), `"x"`, "nothing is loaded")
		})
	}
}

// lacking returns a dump without a column of a table.
func lacking(dump, table, column string) string {
	lines := strings.Split(dump, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, `{"table":"`+table+`"`) })
	var head dumpTable
	if err := json.Unmarshal([]byte(lines[at]), &head); err != nil {
		panic(err)
	}
	place := slices.Index(head.Columns, column)
	put := func(line int, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		lines[line] = string(text)
	}
	head.Columns = slices.Delete(head.Columns, place, place+1)
	put(at, head)
	for i := at + 1; strings.HasPrefix(lines[i], "["); i++ {
		var row []json.RawMessage
		if err := json.Unmarshal([]byte(lines[i]), &row); err != nil {
			panic(err)
		}
		put(i, slices.Delete(row, place, place+1))
	}
	return strings.Join(lines, "\n")
}

// Values of a wrong type are rejected before loading: SQLite would accept them.
func TestDumpsHaveTypes(t *testing.T) {
	cfg := engineConfig(t, "sqlite")
	from := openTest(t, cfg)
	_, err := from.Items.Put(t.Context(), Item{Tenant: "t", Kind: "k", ID: "i", Name: "n", Doc: []byte("A")})
	require.NoError(t, err)
	var dump bytes.Buffer
	require.NoError(t, from.Dump(t.Context(), &dump))
	const good = `["t","k","i","n",{"bytes":"bg=="},{"bytes":"QQ=="},1,`
	require.Equal(t, 1, strings.Count(dump.String(), good))
	load := func(start string) (checked, loaded error) {
		to := engineConfig(t, "sqlite")
		to.KeyFile = filepath.Join(cfg.Dir, "secret.key")
		text := strings.Replace(dump.String(), good, start, 1)
		return CheckDump(t.Context(), strings.NewReader(text)), openTest(t, to).Load(t.Context(), strings.NewReader(text))
	}
	checked, loaded := load(good)
	require.NoError(t, checked)
	require.NoError(t, loaded)
	for _, wrong := range []string{
		`["t","k","i",1,{"bytes":"bg=="},{"bytes":"QQ=="},1,`,
		`["t","k","i","n",{"bytes":"bg=="},"A",1,`,
		`["t","k","i","n",{"bytes":"bg=="},{"bytes":"QQ=="},"1",`,
		`["t","k","i","n",{"bytes":"bg=="},{"bytes":"QQ=="},1.5,`,
		`["t","k","i","n",{"bytes":"bg=="},{"bytes":"QQ=="},null,`,
	} {
		checked, loaded := load(wrong)
		require.ErrorIs(t, checked, ErrCorrupt, wrong)
		require.ErrorIs(t, loaded, ErrCorrupt, wrong)
	}
}

func TestCheckIntegrity(t *testing.T) {
	cfg := engineConfig(t, "sqlite")
	s, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	for i := range 50 {
		_, err := s.Canvases.Create(t.Context(), Canvas{ID: fmt.Sprint(i), Tenant: "t", DSL: make([]byte, 3000)}, "")
		require.NoError(t, err)
	}
	require.NoError(t, s.CheckIntegrity(t.Context()))
	require.NoError(t, s.Close())
	file := filepath.Join(cfg.Dir, "easel.db")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for at := len(data) - 20000; at < len(data); at++ { // of the canvases, which came last
		data[at] ^= 0x5a
	}
	require.NoError(t, os.WriteFile(file, data, 0o600))
	cfg.AsIs = true // does not compare the checksums of pages
	s = openTest(t, cfg)
	require.ErrorIs(t, s.CheckIntegrity(t.Context()), ErrCorrupt)
}

func FuzzLoad(f *testing.F) {
	tables, err := emptyTables(f.Context())
	require.NoError(f, err)
	defer tables.Close()
	f.Add(`{"table":"tenants","columns":["id","name"]}` + "\n" + `["a","b"]`)
	f.Add("[]\n{}\n{\"table\":1}")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := readTable(t.Context(), tables, []byte(text))
		if err == nil {
			insert := insertInto(table)
			require.NotEmpty(t, table.Columns)
			require.Equal(t, 1, strings.Count(insert, "INSERT"))
			require.NotContains(t, insert, ";")
		}
		if values, err := loadValues([]byte(text), 2); err == nil {
			require.Len(t, values, 2)
		}
	})
}

func TestBackup(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, engineConfig(t, "sqlite"))
	c, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", DSL: []byte("{}")}, "")
	require.NoError(t, err)
	cfg := Config{Dir: t.TempDir(), KeyFile: filepath.Join(filepath.Dir(keyFileOf(t, s)), "secret.key")}
	require.NoError(t, s.Backup(ctx, filepath.Join(cfg.Dir, "easel.db")))
	require.Error(t, s.Backup(ctx, filepath.Join(cfg.Dir, "easel.db")), "a file is never overwritten")
	copied := openTest(t, cfg)
	got, err := copied.Canvases.Get(ctx, "t", c.ID)
	require.NoError(t, err)
	require.Equal(t, c, got)
}

func keyFileOf(t *testing.T, s *Store) string {
	var seq, name, file string
	require.NoError(t, s.read.QueryRowContext(t.Context(), `PRAGMA database_list`).Scan(&seq, &name, &file))
	return file
}
