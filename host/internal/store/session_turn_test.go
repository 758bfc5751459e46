package store

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// formerSession is a session as version 22 of the tables stored it, after one turn.
const (
	formerSession = `INSERT INTO sessions (id, tenant_id, canvas_id, user_id, source, name, dsl, messages, reference,
		find, errors, tokens, duration_ms, rounds, thumb_up, rev, run_id, last_run_id, create_time, update_time)
		VALUES ('s', 't', 'c', 'u', '', '', $1, $2, $3, 'hello', '', 0, 0, 1, 0, 2, '', 'r', 5, 6)`
	formerDSL = `{"components":{"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["M"]},"M":{` +
		`"obj":{"component_name":"Message","params":{"content":["x"],"outputs":{"content":{"value":"x"}}}},` +
		`"downstream":[]}},"history":[["user","Hello"],["assistant",{"content":"x"}]],` +
		`"retrieval":[{"chunks":{},"doc_aggs":{}}],` +
		`"memory":[],"path":["begin","M"],"globals":{"sys.query":"Hello","sys.conversation_turns":1,` +
		`"sys.history":["user: Hello","assistant: x"]},"task_id":"r"}`
	formerMessages = `[{"role":"user","content":"Hello"},{"role":"assistant","content":"x"}]`
)

// A session of a former version keeps its document; turns are appended to it, and a dump of that
// version loads as its database opens.
func TestMigrationOfSessions(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			ctx := t.Context()
			cfg := engineConfig(t, engine)
			s, err := connect(ctx, cfg)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			require.NoError(t, err)
			require.NoError(t, s.write(ctx, "old tables", func(ctx context.Context, q querier) error {
				_, err := schemaVersion(ctx, q)
				require.NoError(t, err)
				for n := 1; n <= 22; n++ {
					file, err := fs.Glob(migrations, fmt.Sprintf("migrations/%04d_*.sql", n))
					require.NoError(t, err)
					require.NoError(t, applyMigration(ctx, q, s.engine, file[0], n))
				}
				_, err = q.ExecContext(ctx, formerSession, []byte(formerDSL), []byte(formerMessages), []byte("[{}]"))
				return err
			}))
			require.NoError(t, s.prepare(ctx, cfg))
			continueFormer(t, s)

			var dump bytes.Buffer
			require.NoError(t, s.Dump(ctx, &dump))
			require.NoError(t, CheckDump(ctx, bytes.NewReader(dump.Bytes())))
			other := engineConfig(t, engine)
			other.KeyFile = filepath.Join(cfg.Dir, "secret.key")
			to := openTest(t, other)
			require.NoError(t, to.Load(ctx, bytes.NewReader(dump.Bytes())))
			want, err := s.Sessions.Get(ctx, "t", "s")
			require.NoError(t, err)
			got, err := to.Sessions.Get(ctx, "t", "s")
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func continueFormer(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	v, err := s.Sessions.Get(ctx, "t", "s")
	require.NoError(t, err)
	require.Equal(t, formerDSL, string(v.DSL))
	require.Equal(t, formerMessages, string(v.Messages))
	require.Equal(t, "[{}]", string(v.Reference))
	said := func(content string) []engine.Value {
		return []engine.Value{
			engine.Object("role", "user", "content", "Again"), engine.Object("role", "assistant", "content", content),
		}
	}
	added := engine.Added{History: []engine.Value{
		engine.List(engine.String("user"), engine.String("Again")),
		engine.List(engine.String("assistant"), engine.Object("content", "y", "downloads", engine.List())),
	}, Retrieval: []engine.Value{engine.Object("chunks", engine.Object(), "doc_aggs", engine.Object())}}
	v.State = []byte(`{"globals":{"sys.query":"Again","sys.history":null},"nodes":{"M":{"content":"y"}},"said":4}`)
	v.Added, v.LastRun = NewSessionTurn(said("y"), engine.Null, "Again\ny", added), "r2"
	require.NotContains(t, string(v.Added.history), "Again", "a text is stored once")
	_, err = s.Sessions.Save(ctx, v)
	require.NoError(t, err)

	got, err := s.Sessions.Get(ctx, "t", "s")
	require.NoError(t, err)
	doc, err := engine.ParseJSON(got.DSL)
	require.NoError(t, err)
	require.Equal(t, `[["user","Hello"],["assistant",{"content":"x"}],["user","Again"],`+
		`["assistant",{"content":"y","downloads":[]}]]`, doc.Get("history").JSON())
	require.Equal(t, `["user: Hello","assistant: x","user: Again","assistant: y"]`,
		doc.Get("globals").Get("sys.history").JSON())
	require.Equal(t, 2, doc.Get("retrieval").Len())
	params := doc.Get("components").Get("M").Get("obj").Get("params")
	require.Equal(t, "y", params.Get("outputs").Get("content").Get("value").Str())
	require.Equal(t, "[{},{}]", string(got.Reference))
	both := formerMessages[:len(formerMessages)-1] + "," + engine.List(said("y")...).JSON()[1:]
	require.Equal(t, both, string(got.Messages))
	for _, words := range []string{"HELLO", "again"} {
		list, _, err := s.Sessions.List(ctx, SessionFilter{Tenant: "t", Keywords: words}, Page{})
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, got, list[0])
	}
}

// A dump of a former version has the documents of sessions in their rows.
func TestLoadOfAFormerDumpOfSessions(t *testing.T) {
	ctx := t.Context()
	cfg := engineConfig(t, "sqlite")
	from := openTest(t, cfg)
	_, err := from.Sessions.Create(ctx, Session{ID: "s", Tenant: "t", Canvas: "c"})
	require.NoError(t, err)
	var dump bytes.Buffer
	require.NoError(t, from.Dump(ctx, &dump))
	lines := strings.Split(dump.String(), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, `{"table":"sessions"`):
			lines[i] = `{"table":"sessions","columns":["id","tenant_id","canvas_id","user_id","source","name","dsl",` +
				`"messages","reference","find","errors","tokens","duration_ms","rounds","thumb_up",` +
				`"rev","run_id","last_run_id","create_time","update_time"]}`
			lines[i+1] = `["s","t","c","","","",{"bytes":"e30="},{"bytes":"W10="},{"bytes":"W10="},` +
				`"hello","",0,0,0,0,1,"","",5,6]`
		case strings.HasPrefix(line, `{"table":"session_`):
			lines[i] = ""
			if strings.HasPrefix(line, `{"table":"session_documents"`) {
				lines[i+1] = ""
			}
		}
	}
	former := regexp.MustCompile(`"schema":\d+`).ReplaceAllString(strings.Join(lines, "\n"), `"schema":22`)
	to := engineConfig(t, "sqlite")
	to.KeyFile = filepath.Join(cfg.Dir, "secret.key")
	s := openTest(t, to)
	require.NoError(t, s.Load(ctx, strings.NewReader(former)))
	v, err := s.Sessions.Get(ctx, "t", "s")
	require.NoError(t, err)
	require.Equal(t, "{}", string(v.DSL))
	list, _, err := s.Sessions.List(ctx, SessionFilter{Tenant: "t", Keywords: "hello"}, Page{})
	require.NoError(t, err)
	require.Len(t, list, 1)
}
