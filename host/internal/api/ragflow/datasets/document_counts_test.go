package datasets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api/ragflow"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// Both pages get the counts of documents by suffix and state, narrowed like a list.
func TestCountsOfDocuments(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	of := "/api/v1/datasets/" + b.Dataset + "/documents"
	body, kind := formOf([]string{"a.md", "b.md"}, nil)
	s.Good(s.Request("POST", of, "one", body, "Content-Type", kind))
	const all, some = `{"txt":1,"md":2}`, `{"md":2}`
	for name, c := range map[string]struct {
		data     engine.Value
		suffixes string
		total    int64
	}{
		"new":         {s.Good(s.Get(ragflow.NewerPrefix + of + "?type=filter")).Data(), all, 3},
		"new, narrow": {s.Good(s.Get(ragflow.NewerPrefix + of + "?type=filter&suffix=md")).Data(), some, 2},
		"old":         {s.Good(s.Post("/v1/document/filter", `{"kb_id":"`+b.Dataset+`"}`)).Data(), all, 3},
	} {
		require.JSONEq(t, c.suffixes, c.data.Get("filter").Get("suffix").JSON(), name)
		total, _ := c.data.Get("total").Int()
		require.Equal(t, c.total, total, name)
		digits, _ := c.data.Get("filter").Get("run_status").Get("0").Int()
		require.Equal(t, c.total, digits, name)
	}
	list := s.Good(s.Get(of + "?type=filter")).Data()
	require.Equal(t, 3, list.Get("docs").Len(), "version 0.23 gives the list")
}
