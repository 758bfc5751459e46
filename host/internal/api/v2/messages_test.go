package v2_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// Pages of the messages of a session are the whole conversation, in its order.
func TestMessagesInPages(t *testing.T) {
	s := apitest.New(t)
	dsl := sketch.Canvas(`begin Begin {"prologue":"Welcome"} -> Message:A`,
		`Message:A Message {"content":["You said {sys.query}"]}`)
	id := s.Post("/api/v2/canvases", `{"title":"x","dsl":`+dsl+`}`).Body.Get("id").Str()
	session := s.Post("/api/v2/canvases/"+id+"/sessions", `{}`).Body.Get("id").Str()
	path := "/api/v2/canvases/" + id + "/sessions/" + session + "/messages"
	want := []string{"Welcome"}
	for i := range 60 {
		a := s.Request("POST", "/api/v2/canvases/"+id+"/runs", "one",
			fmt.Sprintf(`{"query":"q%d","session":"%s"}`, i, session), "Accept", "text/event-stream")
		require.Contains(t, a.Text, "workflow_finished")
		want = append(want, fmt.Sprint("q", i), fmt.Sprint("You said q", i))
	}
	var got []string
	pages := 0
	for next := ""; ; pages++ {
		a := s.Get(path + "?after=" + next)
		require.Equal(t, 200, a.Status, a.Text)
		for _, m := range a.Body.Get("items").Elements() {
			got = append(got, m.Get("content").Str())
		}
		if next = a.Body.Get("next").Str(); next == "" {
			break
		}
	}
	require.Equal(t, want, got)
	require.Equal(t, 1, pages, "pages before the last one")
	require.Equal(t, 404, s.Get("/api/v2/canvases/"+id+"/sessions/missing/messages").Status)
	require.Equal(t, 422, s.Get(path+"?after=x").Status)
	for _, after := range []string{"61", "9223372036854775807"} {
		a := s.Get(path + "?after=" + after)
		require.Equal(t, 200, a.Status, a.Text)
		require.Zero(t, a.Body.Get("items").Len())
		require.True(t, a.Body.Get("next").IsNull(), "nothing follows the last turn: %s", a.Text)
	}
}
