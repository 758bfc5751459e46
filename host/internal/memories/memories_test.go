package memories

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// models returns a fixed answer, and embeds texts by their topic, drinks or animals.
type models struct {
	answer   string
	name     string // of the embedding model
	failing  error
	requests []*engine.ModelRequest
}

func (m *models) Generate(_ context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	m.requests = append(m.requests, req)
	return func(yield func(engine.ModelPiece, error) bool) { yield(engine.ModelPiece{Text: m.answer}, m.failing) }
}

func (m *models) EmbeddingModel(context.Context) (string, error) { return m.name, nil }

func (m *models) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = []float32{0.1, 0.1}
		for _, w := range []string{"tea", "coffee", "beverage"} {
			if strings.Contains(text, w) {
				out[i][0] = 1
			}
		}
		for _, w := range []string{"cat", "dog", "pet"} {
			if strings.Contains(text, w) {
				out[i][1] = 1
			}
		}
	}
	return out, m.failing
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func open(t testing.TB, m *models) *Store {
	return &Store{
		Records: runstest.Records(t, store.Config{}).Memories, Models: func(string, string) Models { return m },
		Now: func() time.Time { return noon },
	}
}

var who = Principal{Viewer: access.Viewer{Tenant: "t", User: "ann"}}

func (s *Store) memory(t testing.TB, settings Settings) string {
	m, err := s.Create(t.Context(), who, "notes", settings)
	require.NoError(t, err)
	return m.ID
}

func texts(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Content)
	}
	return out
}

func TestSearchByWords(t *testing.T) {
	s := open(t, &models{})
	id := s.memory(t, Defaults())
	for _, said := range []string{"my cat is Tom", "I like green teas", "green walls, please"} {
		require.NoError(
			t,
			s.Add(
				t.Context(), who, []string{id},
				Exchange{Agent: "a", Session: "s " + said, User: "u", Input: said, Response: "ok"},
			),
		)
	}
	search := func(q Query) []string {
		q.Memories, q.WordWeight = []string{id}, 0.7
		if q.Limit == 0 {
			q.Limit = 5
		}
		hits, err := s.Search(t.Context(), who, q)
		require.NoError(t, err)
		return texts(hits)
	}
	require.Equal(t, []string{
		"User Input: I like green teas\nAgent Response: ok", "User Input: green walls, please\nAgent Response: ok",
	}, search(Query{Text: "Does she like green tea?", Threshold: 0.1}))
	require.Len(t, search(Query{Text: "like green tea", Threshold: 0.5}), 1)
	require.Len(t, search(Query{Text: "like green tea", Limit: 1}), 1)
	require.Empty(t, search(Query{Text: "bicycle"}))
	require.Empty(t, search(Query{Text: "green tea", Agent: "b"}))
	require.Empty(t, search(Query{Text: "green tea", User: "v"}))
	require.Len(t, search(Query{Text: "green", Session: "s green walls, please"}), 1)

	require.NoError(t, s.Forget(t.Context(), who, id, 2))
	require.NoError(t, s.Enable(t.Context(), who, id, 3, false))
	require.Empty(t, search(Query{Text: "green tea"}))
	require.NoError(t, s.Enable(t.Context(), who, id, 3, true))
	require.Len(t, search(Query{Text: "green tea"}), 1)
}

func TestSearchByMeaning(t *testing.T) {
	m := &models{name: "e@P"}
	s := open(t, m)
	id := s.memory(t, Defaults())
	for _, said := range []string{"my cat is Tom", "I like tea"} {
		require.NoError(t, s.Add(t.Context(), who, []string{id}, Exchange{Input: said}))
	}
	q := Query{Memories: []string{id}, Text: "favourite beverage", Threshold: 0.2, WordWeight: 0.3, Limit: 5}
	hits, err := s.Search(t.Context(), who, q)
	require.NoError(t, err)
	require.Equal(t, []string{"User Input: I like tea\nAgent Response: "}, texts(hits))
	require.Greater(t, hits[0].Vector, 0.9)

	m.name = "other@P" // its vectors cannot be compared with the stored ones
	hits, err = s.Search(t.Context(), who, q)
	require.NoError(t, err)
	require.Empty(t, hits)
	m.name = "e@P"
	q.WordWeight = 1
	hits, err = s.Search(t.Context(), who, q)
	require.NoError(t, err)
	require.Empty(t, hits)

	m.failing = errors.New("embedding server is away")
	q.WordWeight = 0.5
	_, err = s.Search(t.Context(), who, q)
	require.ErrorContains(t, err, "embedding server is away")
}

func TestExtraction(t *testing.T) {
	m := &models{answer: "<think>{}</think>```json\n" +
		`{"semantic": [{"content": "Ann likes tea", "valid_at": "2026-01-02T03:04:05", "invalid_at": ""},
		{"content": " "}],
			"episodic": [{"content": "not asked for"}],
			"procedural": [{"content": "boil water", "invalid_at": "2027-01-01"}]}` + "\n```"}
	s := open(t, m)
	id := s.memory(t, Settings{Types: []string{Procedural, Raw, Semantic}, LLM: "m@P", Temperature: 0.25})
	require.NoError(
		t,
		s.Add(t.Context(), who, []string{id}, Exchange{User: "u", Agent: "a", Session: "s", Input: "q", Response: "r"}),
	)
	list, total, err := s.Messages(t.Context(), who, store.MemoryFilter{Memories: []string{id}}, store.Page{})
	require.NoError(t, err)
	require.Equal(t, 3, total)
	byKind := map[string]Message{}
	for _, v := range list {
		byKind[v.Kind] = v
		require.Equal(t, "u a s", v.User+" "+v.Agent+" "+v.Session)
	}
	require.Equal(t, "User Input: q\nAgent Response: r", byKind[Raw].Content)
	require.Equal(t, noon.UnixMilli(), byKind[Raw].ValidAt)
	require.Equal(t, "Ann likes tea", byKind[Semantic].Content)
	require.Equal(t, byKind[Raw].ID, byKind[Semantic].Source)
	require.Equal(t, "2026-01-02", time.UnixMilli(byKind[Semantic].ValidAt).UTC().Format(time.DateOnly))
	require.Equal(t, "2027-01-01", time.UnixMilli(byKind[Procedural].InvalidAt).UTC().Format(time.DateOnly))
	require.Len(t, m.requests, 1)
	require.Equal(t, "m@P", m.requests[0].LLM)
	require.InDelta(t, 0.25, *m.requests[0].Config.Temperature, 0)
	require.Contains(t, m.requests[0].Messages[0].Content, "User Input: q")
	require.NotContains(t, m.requests[0].System, "episodic")
}

func TestFailedExtractionKeepsTheExchange(t *testing.T) {
	for _, m := range []*models{
		{failing: errors.New("model is away")}, {answer: "I cannot do that"}, {answer: `{"semantic": [`},
	} {
		s := open(t, m)
		id := s.memory(t, Settings{Types: []string{Semantic}})
		err := s.Add(t.Context(), who, []string{id}, Exchange{Input: "q"})
		require.ErrorContains(t, err, "extraction")
		require.ErrorIs(t, err, ErrIncomplete)
		_, total, err := s.Messages(t.Context(), who, store.MemoryFilter{Memories: []string{id}}, store.Page{})
		require.NoError(t, err)
		require.Equal(t, 1, total)
	}
}

func TestMemoriesOfOthers(t *testing.T) {
	s := open(t, &models{})
	mine := s.memory(t, Defaults())
	settings := Defaults()
	settings.Permission = PermissionTeam
	shared := s.memory(t, settings)
	for _, tt := range []struct {
		who           Principal
		mine, sharing bool
	}{
		{who, true, true},
		{who, true, true},
		{Principal{Viewer: access.All("t")}, true, true},
		{Principal{Viewer: access.Viewer{Tenant: "t"}}, false, true},
		{Principal{Viewer: access.Viewer{Tenant: "t", User: "bob"}}, false, true},
		{Principal{Viewer: access.Viewer{Tenant: "other", User: "ann"}}, false, false},
		{Principal{Viewer: access.All("other")}, false, false},
	} {
		for id, sees := range map[string]bool{mine: tt.mine, shared: tt.sharing} {
			_, got := s.Get(t.Context(), tt.who, id)
			_, searched := s.Search(t.Context(), tt.who, Query{Memories: []string{id}, Text: "x", Limit: 1})
			_, _, listed := s.Messages(t.Context(), tt.who, store.MemoryFilter{Memories: []string{id}}, store.Page{})
			for i, err := range []error{
				got, searched, listed, s.Add(t.Context(), tt.who, []string{id}, Exchange{Input: "x"}),
				ignoreMissing(s.Forget(t.Context(), tt.who, id, 99)), ignoreMissing(
					s.Enable(t.Context(), tt.who, id, 99, true),
				),
			} {
				if sees {
					require.NoError(t, err, i)
				} else {
					require.ErrorIs(t, err, ErrUnknown, i)
				}
			}
		}
	}
	require.ErrorIs(t, s.Delete(t.Context(), Principal{Viewer: access.All("other")}, mine), ErrUnknown)
	require.NoError(t, s.Delete(t.Context(), who, mine))
}

// ignoreMissing drops the error of a message that does not exist.
func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func TestSettings(t *testing.T) {
	s := open(t, &models{})
	id := s.memory(t, Defaults())
	second, err := s.Create(t.Context(), who, "notes", Defaults())
	require.NoError(t, err)
	require.Equal(t, "notes(1)", second.Name)
	long, err := s.Create(t.Context(), who, strings.Repeat("ü", LongestName), Defaults())
	require.NoError(t, err)
	longer, err := s.Create(t.Context(), who, long.Name, Defaults())
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("ü", LongestName-3)+"(1)", longer.Name)
	set := func(f func(name *string, s *Settings)) error {
		_, err := s.Update(t.Context(), who, id, func(name *string, s *Settings) error { f(name, s); return nil })
		return err
	}
	for name, f := range map[string]func(name *string, s *Settings){
		"empty name":  func(name *string, _ *Settings) { *name = " " },
		"long name":   func(name *string, _ *Settings) { *name = strings.Repeat("x", 129) },
		"type":        func(_ *string, s *Settings) { s.Types = []string{"else"} },
		"permission":  func(_ *string, s *Settings) { s.Permission = "all" },
		"size":        func(_ *string, s *Settings) { s.Size = LargestSize + 1 },
		"temperature": func(_ *string, s *Settings) { s.Temperature = 1.1 },
	} {
		require.ErrorIs(t, set(f), ErrSettings, name)
	}
	require.NoError(t, set(func(_ *string, s *Settings) { s.Types = []string{Semantic, Raw} }))
	require.NoError(t, set(func(_ *string, s *Settings) { s.Types = []string{Raw} }))
	require.NoError(t, s.Add(t.Context(), who, []string{id}, Exchange{Input: "x"}))
	require.ErrorIs(t, set(func(_ *string, s *Settings) { s.Types = []string{Semantic} }), ErrNotEmpty)
	require.NoError(t, set(func(name *string, s *Settings) { *name, s.Description = "papers", "d" }))
	m, err := s.Get(t.Context(), who, id)
	require.NoError(t, err)
	require.Equal(t, "papers d", m.Name+" "+m.Settings.Description)
}

func TestPort(t *testing.T) {
	s := open(t, &models{})
	id := s.memory(t, Defaults())
	port := s.Of(who, "")
	require.NoError(t, port.Remember(t.Context(), &engine.Remembered{
		MemoryIDs: []string{id, id}, UserID: "u", AgentID: "a", SessionID: "s", UserInput: "tea?", AgentResponse: "yes",
	}))
	found, err := port.Recall(
		t.Context(), &engine.RetrievalQuery{Memories: []string{id, id}, Text: "tea", TopN: 3, KeywordWeight: 0.5},
	)
	require.NoError(t, err)
	require.Len(t, found.Chunks, 1)
	require.Equal(t, "User Input: tea?\nAgent Response: yes", found.Chunks[0].Get("content").Str())
	others := s.Of(Principal{Viewer: access.All("other")}, "")
	require.ErrorIs(t, others.Remember(t.Context(), &engine.Remembered{MemoryIDs: []string{id}}), ErrUnknown)
}

// BenchmarkSearch searches a full memory of the default size.
func BenchmarkSearch(b *testing.B) {
	s := open(b, &models{})
	id := s.memory(b, Defaults())
	text := strings.Repeat("the quick brown fox jumps over lazy dogs while tea is served to guests. ", 14)
	var list []Message
	for i := range 5000 {
		list = append(list, Message{Kind: Raw, Content: fmt.Sprint(i, " ", text)})
	}
	require.NoError(b, s.Records.Add(b.Context(), "t", id, LargestSize, list))
	for b.Loop() {
		hits, err := s.Search(b.Context(), who, Query{Memories: []string{id}, Text: "4711 tea guests", Limit: 8})
		require.NoError(b, err)
		require.Contains(b, hits[0].Content, "4711")
	}
}

// Names are taken only by memories that their user sees, so that none reveals another.
func TestNamesOfPrivateMemories(t *testing.T) {
	s := open(t, &models{})
	create := func(user, permission string) Memory {
		settings := Defaults()
		settings.Permission = permission
		as := Principal{Viewer: access.Viewer{Tenant: "t", User: user}}
		m, err := s.Create(t.Context(), as, "notes", settings)
		require.NoError(t, err)
		return m
	}
	require.Equal(t, "notes", create("ann", PermissionMe).Name)
	bobs := create("bob", PermissionTeam)
	require.Equal(t, "notes", bobs.Name)
	require.Equal(t, "notes(1)", create("carl", PermissionMe).Name)
	renamed, err := s.Update(t.Context(), Principal{Viewer: access.Viewer{Tenant: "t", User: "carl"}}, bobs.ID,
		func(name *string, _ *Settings) error { *name = "Notes(1)"; return nil })
	require.NoError(t, err)
	require.Equal(t, "Notes(1)(1)", renamed.Name)
}
