package ragflow_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A test run of a pipeline on an uploaded file answers immediately; its trace has the progress of
// each step and ends with the document of the canvas.
func TestPipelineRunsOnAnUpload(t *testing.T) {
	s := apitest.New(t)
	dsl := sketch.Canvas(
		"File File -> Parser:A",
		`Parser:A Parser {"setups": {"text&markdown": {"suffix": ["md"], "output_format": "text"}}} -> Splitter:A`,
		"Splitter:A Splitter",
	)
	id := s.Good(s.Post("/v1/canvas/set", `{"title":"flow","canvas_category":"dataflow_canvas","dsl":`+dsl+`}`)).
		Data().Get("id").Str()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "a.md")
	require.NoError(t, err)
	_, err = part.Write([]byte("# Returns\n\nwithin 30 days"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/canvas/upload/"+id, &form)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer one")
	req.Header.Set("Content-Type", w.FormDataContentType())
	file := s.Good(s.Do(http.DefaultClient, req)).Data()

	body := fmt.Sprintf(`{"id":%q,"files":[%s]}`, id, file.JSON())
	run := s.Good(s.Post("/v1/canvas/completion", body)).Data().Get("message_id").Str()
	require.NotEmpty(t, run)
	trace := engine.Null
	require.Eventually(t, func() bool {
		trace = s.Good(s.Get("/v1/canvas/trace?canvas_id=" + id + "&message_id=" + run)).Data()
		return trace.Len() > 0 && trace.At(trace.Len()-1).Get("component_id").Str() == "END"
	}, 2*time.Minute, 20*time.Millisecond)
	var nodes []string
	for _, n := range trace.Elements() {
		nodes = append(nodes, n.Get("component_id").Str())
	}
	require.Equal(t, []string{"File", "Parser:A", "TokenChunker:A", "END"}, nodes)
	parser := trace.At(1).Get("trace")
	require.Equal(t, "parsing a.md", parser.At(0).Get("message").Str())
	require.Equal(t, "Done", parser.At(parser.Len()-1).Get("message").Str())
	require.Len(t, parser.At(0).Get("datetime").Str(), len("15:04:05"))
	end := trace.At(3).Get("trace").At(0)
	require.Contains(t, end.Get("message").Str(), "within 30 days")
	params := end.Get("dsl").Get("components").Get("TokenChunker:A").Get("obj").Get("params")
	stored := params.Get("outputs").Get("chunks").Get("value")
	require.Contains(t, stored.JSON(), "within 30 days")

	require.NotZero(t, s.Post("/v1/canvas/completion", `{"id":"`+id+`"}`).Code())
}
