package ragflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api/ragflow"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// At one base URL the SDK of 0.25 finds agents as those of 0.23, and datasets as those of 0.27.
func TestMiddleDialect(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	at := func(prefix, path string) string { return prefix + "/api/v1" + path }
	sessions := "/agents/" + id + "/sessions"
	for _, path := range []string{"/agents?page=1&page_size=30", "/agents?title=missing", sessions} {
		require.Equal(t, s.Get(at("", path)).Text, s.Get(at(ragflow.MiddlePrefix, path)).Text, path)
	}
	asked := func(prefix string) apitest.Answer {
		return s.Good(s.Post(at(prefix, "/agents/"+id+"/completions"), `{"question":"tea","stream":false}`))
	}
	content := asked("").Data().Get("data").Get("content").Str()
	require.NotEmpty(t, content)
	require.Equal(t, content, asked(ragflow.MiddlePrefix).Data().Get("data").Get("content").Str())
	for _, path := range []string{"/datasets?id=none", "/datasets?name=none"} {
		require.Equal(t, s.Get(at(ragflow.NewerPrefix, path)).Text, s.Get(at(ragflow.MiddlePrefix, path)).Text, path)
	}
	none := s.Get("/0.25/api/v1/nothing")
	require.Equal(t, s.Get("/0.27/api/v1/nothing").Text, none.Text, "an unknown path is named without the prefix")
}
