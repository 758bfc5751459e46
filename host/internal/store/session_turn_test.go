package store

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// A conversation of one turn, as its session begins with it.
const (
	saidDSL = `{"components":{"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["M"]},"M":{` +
		`"obj":{"component_name":"Message","params":{"content":["x"],"outputs":{"content":{"value":"x"}}}},` +
		`"downstream":[]}},"history":[["user","Hello"],["assistant",{"content":"x"}]],` +
		`"retrieval":[{"chunks":{},"doc_aggs":{}}],` +
		`"memory":[],"path":["begin","M"],"globals":{"sys.query":"Hello","sys.conversation_turns":1,` +
		`"sys.history":["user: Hello","assistant: x"]},"task_id":"r"}`
	saidMessages = `[{"role":"user","content":"Hello"},{"role":"assistant","content":"x"}]`
)

// A session keeps the document with which it began, and turns are appended to it; a dump has both.
func TestTurnsAreAppended(t *testing.T) {
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			cfg := engineConfig(t, name)
			s := openTest(t, cfg)
			_, err := s.Sessions.Create(ctx, Session{
				ID: "s", Tenant: "t", Canvas: "c", User: "u", Rounds: 1, LastRun: "r",
				DSL: []byte(saidDSL), Messages: []byte(saidMessages), Reference: []byte("[{}]"),
			})
			require.NoError(t, err)
			continueSession(t, s)
			var dump bytes.Buffer
			require.NoError(t, s.Dump(ctx, &dump))
			other := engineConfig(t, name)
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

func continueSession(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	v, err := s.Sessions.Get(ctx, "t", "s")
	require.NoError(t, err)
	require.Equal(t, saidDSL, string(v.DSL))
	require.Equal(t, saidMessages, string(v.Messages))
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
	both := saidMessages[:len(saidMessages)-1] + "," + engine.List(said("y")...).JSON()[1:]
	require.Equal(t, both, string(got.Messages))
	list, _, err := s.Sessions.List(ctx, SessionFilter{Tenant: "t", Keywords: "AGAIN"}, Page{})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, got, list[0])
}
