package v2_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// One node runs alone on the host: of the saved document, or of a draft that is sent.
func TestDebugNode(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("debugged", apitest.Echo)
	path := "/api/v2/canvases/" + id + "/debug"
	saved := s.As("one", "POST", path, `{"node":"Message:A","params":{"sys.query":"Q"}}`, 200)
	require.Contains(t, saved.Get("outputs").Get("content").Str(), "Q", saved.JSON())
	require.Empty(t, saved.Get("error").Str())
	draft := `{"components":{
		"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["Message:B"],"upstream":[]},
		"Message:B":{"obj":{"component_name":"Message","params":{"content":["new"]}},"upstream":["begin"],
			"downstream":[]}}}`
	sent := s.As("one", "POST", path, `{"node":"Message:B","dsl":`+draft+`}`, 200)
	require.Equal(t, "new", sent.Get("outputs").Get("content").Str())
	s.As("one", "POST", path, `{"node":"Message:B"}`, 422)
	s.As("one", "POST", path, `{}`, 422)
	s.As("two", "POST", path, `{"node":"Message:A"}`, 404)
	edits := s.As("one", "POST", "/api/v2/keys", `{"scopes":["edit","read"]}`, 201).Get("key").Str()
	s.As(edits, "POST", path, `{"node":"Message:A"}`, 403)
	runs := s.As("one", "POST", "/api/v2/keys", `{"scopes":["run","read"]}`, 201).Get("key").Str()
	s.As(runs, "POST", path, `{"node":"Message:A"}`, 403)
}
