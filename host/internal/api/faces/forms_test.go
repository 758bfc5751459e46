package faces_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A form that cannot be read is an error of the client on each route.
func TestBrokenFormsAreErrorsOfClients(t *testing.T) {
	s := apitest.New(t)
	const field = "--x\r\nContent-Disposition: form-data; name=\"kb_id\"\r\n\r\n{dataset}\r\n"
	const file = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"
	forms := map[string]string{
		"no boundary":          strings.Repeat("x", 8<<10),
		"a line without end":   field + "--x" + strings.Repeat("y", 8<<10),
		"headers":              field + "--x\r\n\x00\xff: y\r\n z\r\n",
		"a header without end": field + "--x\r\nContent-Disposition: form-data; name=\"file\"",
		"a file without end":   field + file + "text",
		"a file and a line":    field + file + "text\r\n--x\r\n" + strings.Repeat("y", 8<<10),
		"a wrong end":          field + file + "text\r\n--x-",
		"an encoding": field + strings.TrimSuffix(file, "\r\n") +
			"Content-Transfer-Encoding: quoted-printable\r\n\r\n=zz\r\n--x--\r\n",
	}
	b := s.FurnishAll()
	apitest.EachRoute(s, func(route api.Route, method string) {
		if method == "GET" || method == "DELETE" || strings.Contains(route.Path, "logout") {
			return
		}
		for name, form := range forms {
			t.Run(method+" "+route.Path+" "+name, func(t *testing.T) {
				form = strings.ReplaceAll(form, "{dataset}", b.Dataset)
				r := httptest.NewRequestWithContext(t.Context(), method, b.Fill(route.Path), strings.NewReader(form))
				r.Header.Set("Authorization", "Bearer one")
				r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
				s.Fuzzed(t, r)
			})
		}
	})
}
