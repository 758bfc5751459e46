package v2_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestMemories(t *testing.T) {
	s := apitest.New(t)
	const at = "/api/v2/memories"
	v := s.As("one", "POST", at, `{"name":"notes","types":["raw"],"permission":"team"}`, 201)
	id := at + "/" + v.Get("id").Str()
	require.Equal(t, "5242880", v.Get("max_size").Text())
	require.Equal(
		t, "bad_argument",
		s.As("one", "POST", at, `{"name":"x","types":["else"]}`, 422).Get("error").Get("code").Str(),
	)
	s.As("one", "POST", at, `{"types":["raw"]}`, 422)
	v = s.As("one", "PUT", id, `{"description":"d","max_size":1000}`, 200)
	require.Equal(t, "notes d 1000", v.Get("name").Str()+" "+v.Get("description").Str()+" "+v.Get("max_size").Text())
	s.As("one", "POST", id+"/messages", `{"input":"I like green tea","response":"noted","session":"s"}`, 204)
	s.As("one", "POST", id+"/messages", `{"input":"my cat is Tom","response":"noted"}`, 204)
	require.Equal(t, "not_empty", s.As("one", "PUT", id, `{"types":["semantic"]}`, 409).Get("error").Get("code").Str())
	list := s.As("one", "GET", id+"/messages", "", 200).Get("items")
	require.Equal(t, 2, list.Len())
	list = s.As("one", "GET", id+"/messages?query=green+teas", "", 200).Get("items")
	require.Equal(t, 1, list.Len())
	require.Equal(
		t, "1 s raw",
		list.At(0).Get("number").Text()+" "+list.At(0).Get("session").Str()+" "+list.At(0).Get("kind").Str(),
	)
	require.Equal(t, 0, s.As("one", "GET", id+"/messages?query=green&session=t", "", 200).Get("items").Len())
	require.Equal(t, 1, s.As("one", "GET", id+"/messages?page_size=1&page=2", "", 200).Get("items").Len())

	s.As("one", "DELETE", id+"/messages/1", "", 204)
	require.Equal(t, 0, s.As("one", "GET", id+"/messages?query=green", "", 200).Get("items").Len())
	require.False(t, s.As("one", "GET", id+"/messages", "", 200).Get("items").At(1).Get("forgotten").IsNull())
	s.As("one", "DELETE", id+"/messages/9", "", 404)
	s.As("one", "DELETE", id+"/messages/x", "", 404)

	s.As("one", "PUT", id, `{"max_size":10}`, 200)
	require.Equal(
		t, "memory_full",
		s.As(
			"one", "POST", id+"/messages", `{"input":"larger","response":"than that"}`, 507,
		).Get("error").Get("code").Str(),
	)
	require.Equal(t, 1, s.As("one", "GET", at, "", 200).Get("items").Len())
	require.Equal(t, 0, s.As("two", "GET", at, "", 200).Get("items").Len())
	s.As("two", "GET", id+"/messages", "", 404)
	s.As("two", "POST", id+"/messages", `{"input":"x","response":"y"}`, 404)
	s.As("two", "DELETE", id, "", 404)
	s.As("one", "DELETE", id, "", 204)
	s.As("one", "GET", id, "", 404)
}
