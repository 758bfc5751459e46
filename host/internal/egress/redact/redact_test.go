package redact

import (
	"errors"
	"io"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.org/v1":              "https://example.org/v1",
		"nats://token@127.0.0.1:4222":         "nats://***@127.0.0.1:4222",
		"postgres://u:secret@db/x":            "postgres://***@db/x",
		"postgres://u:secret%zz@db/x":         "postgres://***@db/x",
		"postgres://u:sec/re?t#@db/x":         "postgres://***@db/x",
		"postgres://u:sec@ret@db/x":           "postgres://***@db/x",
		"u:secret@127.0.0.1":                  "***@127.0.0.1",
		"https://example.org/v1?key=secret":   "https://example.org/v1?***",
		"https://u:secret@h/?a=b@c&d=secret":  "https://***@c&***",
		"/folder/with a model":                "/folder/with a model",
		"s3://bucket?endpoint=https://u:p@h/": "s3://***@h/",
	} {
		require.Equal(t, want, Address(text))
	}
}

func TestError(t *testing.T) {
	for _, text := range []string{"http://u:sec%zzret@h", "http://u:sec/ret@h", "http://u:secret@h:port"} {
		_, err := url.Parse(text)
		require.Error(t, err)
		require.NotContains(t, Error(err).Error(), "sec")
	}
	request := &url.Error{Op: "Post", URL: "http://u:secret@h/?key=secret", Err: io.EOF}
	require.EqualError(t, Error(request), `Post "http://***@h/?***": EOF`)
	require.ErrorIs(t, Error(request), io.EOF)
	other := errors.New("other")
	require.Equal(t, other, Error(other))
	require.NoError(t, Error(nil))
}

func TestValues(t *testing.T) {
	require.Equal(t, []string{"Bearer sesame-12", "sesame-12"}, Values("Authorization", "Bearer sesame-12"))
	require.Equal(t, []string{"sesame-12"}, Values("X-Api-Key", "sesame-12"))
	require.Equal(t, []string{"sesame-12"}, Values("GITHUB_TOKEN", "sesame-12"))
	for name, value := range map[string]string{
		"X-Region": "eu-central-1", "Accept": "application/json", "X-Key": "true", "MODE": "production",
	} {
		require.Empty(t, Values(name, value), name)
	}
}
