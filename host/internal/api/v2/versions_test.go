package v2_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestVersionsNameTheirAuthorsAndAreRenamed(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("shop", apitest.Echo)
	path := "/api/v2/canvases/" + id
	s.As("one", "PUT", path, `{"dsl":`+apitest.Slow+`}`, http.StatusOK)
	list := s.As("one", "GET", path+"/versions", "", http.StatusOK).Get("items")
	require.Equal(t, 2, list.Len())

	for _, v := range list.Elements() {
		require.Equal(t, "one", v.Get("author").Str())
	}
	newest := path + "/versions/" + list.At(0).Get("id").Str()
	renamed := s.As("one", "PATCH", newest, `{"title":" before the sale "}`, http.StatusOK)
	require.Equal(t, "before the sale", renamed.Get("title").Str())
	list = s.As("one", "GET", path+"/versions", "", http.StatusOK).Get("items")
	require.Equal(t, "before the sale", list.At(0).Get("title").Str())

	s.As("one", "PATCH", newest, `{"title":"  "}`, http.StatusUnprocessableEntity)
	s.As("two", "PATCH", newest, `{"title":"mine"}`, http.StatusNotFound)
	other := s.Canvas("other", apitest.Echo)
	foreign := "/api/v2/canvases/" + other + "/versions/" + list.At(0).Get("id").Str()
	s.As("one", "PATCH", foreign, `{"title":"x"}`, http.StatusNotFound)
}
