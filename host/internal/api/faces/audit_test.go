package faces_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// Each route of the table that changes something is called, in each dialect. One that succeeds has
// added an entry with its name, and one that is refused none.
func TestEachChangeOfEachDialectIsAudited(t *testing.T) {
	s := newRolesSite(t)
	newest := func() store.AuditEntry {
		list, err := s.Store.Audit.List(t.Context(), store.AuditFilter{Tenant: "one", Limit: 1})
		require.NoError(t, err)
		if len(list) == 0 {
			return store.AuditEntry{}
		}
		return list[0]
	}
	written := map[string]int{} // by dialect
	refused := 0
	apitest.EachRoute(s.Site, func(r api.Route, method string) {
		if !r.Audits(method) || r.Need == api.NeedNone || r.Events || strings.Contains(r.Path, "logout") ||
			r.On == "tenant" || method == http.MethodHead {
			return
		}
		before := newest().Seq
		a := s.ask(r, method, "one", s.b)
		after := newest()
		label := method + " " + r.Path + ": " + a.Text
		name := r.Action
		if name == "" {
			name = method + " " + r.Path
		}
		switch failed := a.Status >= 400 || a.Code() > 0; {
		case failed:
			if after.Seq != before {
				t.Errorf("refused, with an entry: %s", label)
			}
			refused++
		case after.Seq == before:
			t.Errorf("no entry: %s", label)
		default:
			require.Equal(t, name, after.Action, label)
			require.NotContains(t, after.Object, "my secret", label)
			dialect, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
			written[dialect]++
		}
		for _, path := range []string{
			"/api/v2/canvases/{id}", "/api/v2/datasets/{dataset}", "/api/v2/memories/{memory}",
		} {
			if s.Get(s.b.Fill(path)).Status != 200 {
				s.furnish(s.b.Project)
				break
			}
		}
	})
	t.Logf("entries by dialect: %v; refused without one: %d", written, refused)
	require.Greater(t, written["v1"], 3, "RAGFlow's web API")
	require.Greater(t, written["api"], 20, "RAGFlow's API and our own")
}
