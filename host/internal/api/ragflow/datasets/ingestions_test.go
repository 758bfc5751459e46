package datasets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api/ragflow"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// The log of parses is narrowed by state, suffix, kind, name and date, and paged, on both pages.
func TestFiltersOfParseLogs(t *testing.T) {
	s := apitest.New(t)
	id := s.Good(s.Post("/api/v1/datasets", `{"name":"logs"}`)).Data().Get("id").Str()
	of := "/api/v1/datasets/" + id
	var ids []string
	const oldOffice = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"
	for _, file := range [][2]string{{"a.txt", "hello"}, {"b.md", "hello"}, {"broken.doc", oldOffice}} {
		body, kind := apitest.Form(file[0], file[1])
		a := s.Good(s.Request("POST", of+"/documents", "one", body, "Content-Type", kind))
		ids = append(ids, `"`+a.Data().At(0).Get("id").Str()+`"`)
	}
	s.Good(s.Post(of+"/chunks", `{"document_ids":[`+strings.Join(ids, ",")+`]}`))
	total := func(query string) int64 {
		n, ok := s.Good(s.Get(ragflow.NewerPrefix + of + "/ingestions?" + query)).Data().Get("total").Int()
		require.True(t, ok, query)
		return n
	}
	require.Eventually(t, func() bool { return total("") == 3 }, 2*time.Minute, 5*time.Millisecond)

	for query, want := range map[string]int64{
		"operation_status=3": 2, "operation_status=DONE": 2, "operation_status=4": 1,
		"operation_status=FAIL&operation_status=3": 3, "operation_status=0": 0,
		"suffix=md": 1, "suffix=md&suffix=txt": 2, "suffix=md,txt": 2, "suffix=md&operation_status=4": 0,
		"types=doc": 3, "types=pdf": 0, "keywords=BROKEN": 1, "keywords=a.t": 1, "log_type=dataset": 0,
		"create_date_from=2999-01-01": 0, "create_date_to=2000-01-01": 0, "page=2&page_size=2": 3,
		"create_date_from=2000-01-01&create_date_to=2999-01-01%2012:00:00": 3,
	} {
		require.Equal(t, want, total(query), query)
	}
	logs := s.Good(s.Get(ragflow.NewerPrefix + of + "/ingestions?page=2&page_size=2")).Data().Get("logs")
	require.Equal(t, 1, logs.Len())
	const dates = "create_date_from=2026-02-02&create_date_to=2026-02-01"
	for query, message := range map[string]string{
		"operation_status=gone": "Invalid filter operation_status status conditions: gone",
		dates:                   "Create data filter is abnormal.",
		"create_date_from=soon": `"soon": expected a date such as 2026-01-31 or 2026-01-31 12:00:00`,
	} {
		a := s.Get(ragflow.NewerPrefix + of + "/ingestions?" + query)
		require.Equal(t, 102, a.Code(), query)
		require.Equal(t, message, a.Message(), query)
	}
	for body, want := range map[string]int64{
		`{}`: 3, `{"operation_status":["4"]}`: 1, `{"suffix":["md","txt"]}`: 2, `{"types":["pdf"]}`: 0,
		`{"operation_status":["3"],"suffix":["doc"]}`: 0,
	} {
		n, _ := s.Good(s.Post("/v1/kb/list_pipeline_logs?kb_id="+id, body)).Data().Get("total").Int()
		require.Equal(t, want, n, body)
	}
}
