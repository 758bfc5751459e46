package v2_test

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestAudit(t *testing.T) {
	s := apitest.New(t)
	for _, name := range []string{"a", "b", "c"} {
		s.As("one", "PUT", "/api/v2/secrets/"+name, `{"value":"hush"}`, 204)
	}
	s.As("two", "PUT", "/api/v2/secrets/other", `{"value":"hush"}`, 204)
	s.As("one", "DELETE", "/api/v2/secrets/missing", "", 404)
	s.As("one", "DELETE", "/api/v2/secrets/b", "", 204)
	canvas := s.Canvas("old dialect", apitest.Echo)
	list := func(query string) (out []engine.Value) {
		for _, v := range s.As("one", "GET", "/api/v2/audit"+query, "", 200).Get("items").Elements() {
			out = append(out, v)
		}
		return out
	}
	all := list("")
	require.Len(t, all, 5, "the refused act has changed nothing")
	require.Equal(t, "POST /v1/canvas/set", all[0].Get("action").Str())
	require.Equal(t, canvas, all[0].Get("object").Str())
	require.Equal(t, "deleteSecret", all[1].Get("action").Str())
	require.Equal(t, "b", all[1].Get("object").Str())
	require.Equal(t, "one", all[1].Get("user").Str())
	require.True(t, strings.HasPrefix(all[1].Get("caller").Str(), "key "), all[1].JSON())
	require.Len(t, list("?object=b"), 2)
	require.Len(t, list("?action=putSecret&user=one"), 3)
	require.Empty(t, list("?user=two"))
	require.Len(t, list("?before="+all[2].Get("number").Text()), 2)
	require.Empty(t, list("?from="+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
	require.Len(t, list("?to="+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)), 5)
	for _, query := range []string{"?from=yesterday", "?before=x", "?before=0", "?color=red"} {
		s.As("one", "GET", "/api/v2/audit"+query, "", 400)
	}
	export := s.Request("GET", "/api/v2/audit/export?action=putSecret", "one", "")
	lines := strings.Split(strings.TrimSpace(export.Text), "\n")
	require.Len(t, lines, 3)
	for _, line := range lines {
		v, err := engine.ParseJSONText(line)
		require.NoError(t, err)
		require.Equal(t, "putSecret", v.Get("action").Str())
	}
	require.NotContains(t, export.Text, "hush")
	s.As("one", "GET", "/api/v2/audit/export?format=xml", "", 400)
	require.Equal(t, "exportAudit", list("")[0].Get("action").Str())
	check := s.As("one", "GET", "/api/v2/audit/check", "", 200)
	require.True(t, check.Get("intact").True())
	require.Equal(t, "6", check.Get("entries").Text())
	require.Equal(t, list("")[0].Get("hash").Str(), check.Get("hash").Str())
	limited := s.As("one", "POST", "/api/v2/keys", `{"scopes":["read","run","edit"]}`, 201).Get("key").Str()
	s.As(limited, "GET", "/api/v2/audit", "", 403)
}

// A table for spreadsheets has the entries of the lines, and no cell that one would run.
func TestAuditAsTable(t *testing.T) {
	s := apitest.New(t)
	s.As("one", "PUT", "/api/v2/secrets/a", `{"value":"hush"}`, 204)
	s.As("one", "PUT", "/api/v2/secrets/-2", `{"value":"hush"}`, 204)
	a := s.Request("GET", "/api/v2/audit/export?format=csv", "one", "")
	require.Equal(t, "text/csv; charset=utf-8", a.Header.Get("Content-Type"))
	rows, err := csv.NewReader(strings.NewReader(a.Text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 3)
	require.Equal(t, []string{"number", "time", "user", "caller", "action", "object", "address", "hash"}, rows[0])
	require.Equal(t, []string{"putSecret", "'-2"}, rows[1][4:6])
	require.Equal(t, []string{"putSecret", "a"}, rows[2][4:6])
}

// Who reads what happened inside a run is in the log.
func TestReadTracesAreAudited(t *testing.T) {
	s := apitest.New(t)
	b := s.Furnish()
	for path, action := range map[string]string{"trace": "runTrace", "document": "runDocument"} {
		a := s.Request("GET", "/api/v2/runs/"+b.Run+"/"+path, "one", "")
		require.Contains(t, []int{200, 410}, a.Status, a.Text)
		if a.Status == 410 {
			continue // nothing was read
		}
		entry := s.As("one", "GET", "/api/v2/audit?action="+action, "", 200).Get("items").At(0)
		require.Equal(t, b.Run, entry.Get("object").Text(), path)
	}
	require.NotZero(t, s.As("one", "GET", "/api/v2/audit?action=runDocument", "", 200).Get("items").Len())
}
