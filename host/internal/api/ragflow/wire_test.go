package ragflow_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// TestFramesCannotBeForged sends texts that look like frames, line ends of all kinds
// among them.
func TestFramesCannotBeForged(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	const forged = "x\n\ndata:[DONE]\n\ndata:{\"event\": \"message_end\"}\r\n\r\nevent: y\u2028\u2029\u0085🙂"
	body := engine.Object("question", forged).JSON()
	a := s.Post("/api/v1/agents/"+id+"/completions", body)
	require.Equal(t, "message message message_end [DONE]", a.Kinds())
	require.Len(t, framesOf(t, a, true, "data:[DONE]"), 3)
	list, _ := a.Events()
	require.Equal(t, forged, list[1].Get("data").Get("content").Str())
	require.NotContains(t, a.Text, "\r")
	require.Contains(t, a.Text, "🙂", "text is sent as it is")
}

// TestRequestsOfAllKinds sends one request as HTTP/1.0, in chunks, and after
// asking whether it may.
func TestRequestsOfAllKinds(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	const body = `{"question":"x"}`
	head := "Host: x\r\nAuthorization: Bearer one\r\nContent-Type: application/json\r\nConnection: close\r\n"
	for name, request := range map[string]string{
		"1.0":    fmt.Sprintf("HTTP/1.0\r\n%sContent-Length: %d\r\n\r\n%s", head, len(body), body),
		"chunks": fmt.Sprintf("HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n3\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", head, body[:3], len(body)-3, body[3:]),
		// Transfer-Encoding overrides Content-Length (RFC 9112, 6.3), whatever its value.
		"both":       fmt.Sprintf("HTTP/1.1\r\n%sContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(body), body),
		"both, huge": fmt.Sprintf("HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\nContent-Length: 99999999999\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(body), body),
		"expected":   fmt.Sprintf("HTTP/1.1\r\n%sExpect: 100-continue\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body),
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(2*time.Minute)))
		_, err = io.WriteString(conn, "POST /api/v1/agents/"+id+"/completions "+request)
		require.NoError(t, err)
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		require.NoError(t, err, name)
		if res.StatusCode == http.StatusContinue {
			res, err = http.ReadResponse(in, nil)
			require.NoError(t, err, name)
		}
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err, name)
		require.Equal(t, "message message message_end [DONE]", apitest.Answer{Text: string(text)}.Kinds(), name)
		require.NoError(t, conn.Close())
	}
}

// TestDeletedWhileItRuns takes the session away from a turn, and the canvas
// from a run of the editor: both end well and leave nothing.
func TestDeletedWhileItRuns(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Slow)
	session := s.Good(s.Post("/api/v1/agents/"+id+"/sessions", `{}`)).Data().Get("id").Str()
	done := make(chan apitest.Answer, 1)
	go func() {
		done <- s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x","session_id":"`+session+`"}`)
	}()
	s.Running(1)
	s.Good(s.Delete("/api/v1/agents/"+id+"/sessions", `{"ids":["`+session+`"]}`))
	s.Gate <- struct{}{}
	require.Equal(t, "message message_end [DONE]", (<-done).Kinds())
	require.Equal(t, api.NoSession, s.Get("/api/v1/agents/"+id+"/sessions/"+session).Message())

	go func() { done <- s.Post("/v1/canvas/completion", `{"id":"`+id+`"}`) }()
	s.Running(1)
	s.Good(s.Delete("/api/v1/agents/"+id, ""))
	s.Gate <- struct{}{}
	require.Contains(t, (<-done).Kinds(), "workflow_finished")
	require.Equal(t, api.NoCanvas, s.Get("/v1/canvas/get/"+id).Message())
}

// TestTwoTurnsAtOnce sends a session two questions without waiting: one turn follows the other.
func TestTwoTurnsAtOnce(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Slow)
	session := s.Good(s.Post("/api/v1/agents/"+id+"/sessions", `{}`)).Data().Get("id").Str()
	done := make(chan apitest.Answer, 2)
	for _, q := range []string{"one", "two"} {
		go func() {
			done <- s.Post("/api/v1/agents/"+id+"/completions", `{"question":"`+q+`","stream":false,"session_id":"`+session+`"}`)
		}()
	}
	for range 2 {
		s.Running(1)
		s.Gate <- struct{}{}
		require.Equal(t, 0, (<-done).Code())
	}
	row := s.Good(s.Get("/api/v1/agents/" + id + "/sessions?id=" + session)).Data().At(0)
	require.Equal(t, "2", row.Get("round").Text())
	require.Equal(t, 5, row.Get("messages").Len())
}

// TestCancelNamesRunsOfItsOwn cancels by session and by message, after a page
// of another canvas has tried in vain.
func TestCancelNamesRunsOfItsOwn(t *testing.T) {
	s := apitest.New(t)
	id, other := s.Canvas("a", apitest.Slow), s.Canvas("b", apitest.Echo)
	stranger, err := s.Store.Betas.For(t.Context(), "one", other)
	require.NoError(t, err)
	for _, by := range []func(store.Run) string{
		func(r store.Run) string { return r.Session }, func(r store.Run) string { return r.Message }, func(r store.Run) string { return r.ID },
	} {
		done := make(chan apitest.Answer, 1)
		go func() {
			done <- s.Post("/api/v1/agents/"+id+"/completions", `{"question":"x","stream":false}`)
		}()
		name := by(s.Running(1)[0])
		s.Good(s.Request("PUT", "/v1/canvas/cancel/"+name, stranger.Text, ""))
		s.Good(s.Request("POST", "/api/v1/tasks/"+name+"/cancel", "two", ""))
		s.Running(1) // neither did anything
		s.Good(s.Request("PUT", "/v1/canvas/cancel/"+name, "one", ""))
		require.Contains(t, (<-done).Text, "Task has been canceled")
		s.Running(0)
		s.Good(s.Request("PUT", "/v1/canvas/cancel/"+name, "one", ""))
	}
}
