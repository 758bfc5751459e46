package upload

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

func page(canvas string, v store.Visitor) Party {
	return Party{Tenant: "one", By: ByVisitor, Canvas: canvas, Visitor: v}
}

func run(canvas string, v store.Visitor) Party {
	return Party{Tenant: "one", By: ByRun, Canvas: canvas, Visitor: v}
}

// Who reads a file depends on who stored it, and for visitors on the conversation.
func TestPartiesReadTheirFiles(t *testing.T) {
	b := newBox(t)
	ann, bob, signed := store.VisitorOfSession("a"), store.VisitorOfSession("b"), store.VisitorOfUser("c", "ann")
	parties := map[string]Party{
		"member": Member("one"), "member's run": run("c", ""), "webhook": {Tenant: "one", By: ByWebhook, Canvas: "c"},
		"ann": page("c", ann), "ann's run": run("c", ann), "bob": page("c", bob), "bob's run": run("c", bob),
		"signed": page("c", signed), "signed's run": run("c", signed),
		"unproved": page("c", ""), "other canvas": page("d", ann), "all canvases": page(AllCanvases, ann),
		"other tenant": {Tenant: "two", By: ByVisitor, Canvas: "c", Visitor: ann},
	}
	members := "member, member's run, webhook"
	for by, readers := range map[string]string{
		"member": members, "member's run": members, "webhook": members,
		"ann": members + ", ann, ann's run, all canvases", "ann's run": members + ", ann, ann's run, all canvases",
		"signed": members + ", signed, signed's run", "signed's run": members + ", signed, signed's run",
	} {
		for _, how := range []string{"put", "save", "convert"} {
			var id string
			switch how {
			case "put":
				v, err := b.Put(t.Context(), parties[by], "a.txt", strings.NewReader("text"))
				require.NoError(t, err)
				require.True(t, v.Get(originKey).IsNull(), "no client sees it")
				id = v.Get("id").Str()
			case "save":
				v, err := b.RunFiles(parties[by]).Save(t.Context(), "a.txt", "txt", []byte("text"))
				require.NoError(t, err)
				id = v.Get("doc_id").Str()
			case "convert":
				v, err := b.Maker(parties[by]).Convert(t.Context(), "txt", "text")
				require.NoError(t, err)
				id = v.Get("doc_id").Str()
			}
			for name, p := range parties {
				want := strings.Contains(", "+readers+",", ", "+name+",")
				r, v, err := b.Open(t.Context(), p, id)
				require.Equal(t, want, err == nil, "%s by %s: %s", name, by, how)
				if err != nil {
					require.ErrorIs(t, err, ErrNotFound)
				} else {
					require.True(t, v.Get(originKey).IsNull())
					require.NoError(t, r.Close())
				}
				_, err = b.Of(p).Read(t.Context(), engine.Object("id", id))
				require.Equal(t, want, err == nil, "%s by %s: %s", name, by, how)
				_, err = b.ParserOf(p).Parse(t.Context(), engine.Object("id", id), engine.ParseOptions{})
				require.Equal(t, want, err == nil, "%s by %s: %s", name, by, how)
				_, err = b.RunFiles(p).Open(t.Context(), engine.Object("doc_id", id))
				require.Equal(t, want, err == nil, "%s by %s: %s", name, by, how)
			}
		}
	}
}

// The upload of a visitor who has no conversation yet is bound to the first one that reads it, also
// when several do at the same time.
func TestFirstRunBindsAnUpload(t *testing.T) {
	b := newBox(t)
	v, err := b.Put(t.Context(), page("c", ""), "a.txt", strings.NewReader("text"))
	require.NoError(t, err)
	file := engine.Object("id", v.Get("id"))
	_, err = b.RunFiles(run("d", "session:other")).Open(t.Context(), file)
	require.ErrorIs(t, err, ErrNotFound, "another canvas")
	r, _, err := b.Open(t.Context(), page("c", ""), v.Get("id").Str())
	require.NoError(t, err, "who uploaded it may look at it")
	require.NoError(t, r.Close())

	var bound atomic.Int32
	var all sync.WaitGroup
	for _, name := range []string{"1", "2", "3", "4"} {
		all.Go(func() {
			if _, err := b.RunFiles(run("c", store.VisitorOfSession(name))).Open(t.Context(), file); err == nil {
				bound.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, bound.Load())
	_, _, err = b.Open(t.Context(), page("c", ""), v.Get("id").Str())
	require.ErrorIs(t, err, ErrNotFound, "its id is not enough from now on")
	require.True(t, b.has(t, "one", v.Get("id").Str()), "members read it")
}

// Files of former versions have no origin: they belong to members.
func TestFilesWithoutOriginAreMembers(t *testing.T) {
	b := newBox(t)
	_, err := b.Files.Put(t.Context(), objectName("one", "old"), bytes.NewReader([]byte("text")))
	require.NoError(t, err)
	_, err = b.Store.Items.Put(t.Context(), store.Item{
		Tenant: "one", Kind: kind, ID: "old", Name: "a.txt", Repeats: true,
		Doc: []byte(`{"id":"old","name":"a.txt","size":4,"mime_type":"text/plain","created_by":"one"}`),
	})
	require.NoError(t, err)
	require.True(t, b.has(t, "one", "old"))
	for _, p := range []Party{
		page("c", ""), page(AllCanvases, ""), page("", ""), page("", "session:a"), page("c", "session:a"),
		run("c", "session:a"), run("", "session:a"),
	} {
		_, _, err := b.Open(t.Context(), p, "old")
		require.ErrorIs(t, err, ErrNotFound, p)
	}
}
