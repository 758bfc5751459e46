package blobs

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/brokertest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// bucket starts an S3 server and returns its bucket with a prefix.
func bucket(t *testing.T) Bucket {
	t.Helper()
	s, err := servertest.StartS3(t.TempDir())
	if errors.Is(err, servertest.ErrNoS3) {
		t.Skip("no S3 server: ", err)
	}
	require.NoError(t, err)
	t.Cleanup(s.Kill)
	return Bucket{URL: "s3://easel/files/?region=us-east-1&endpoint=" + s.Endpoint, Key: s.Key, Secret: s.Secret}
}

func TestFilesInABucket(t *testing.T) {
	ctx, b := t.Context(), bucket(t)
	conn := brokertest.Open(t, broker.Config{})
	old, err := New(ctx, conn)
	require.NoError(t, err)
	_, err = old.Put(ctx, "tenant/old", bytes.NewReader([]byte("on NATS")))
	require.NoError(t, err)
	s, err := Open(ctx, conn, b)
	require.NoError(t, err)
	testStored(t, s)

	r, _, err := s.Open(ctx, "tenant/old")
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, errors.Join(err, r.Close()))
	require.Equal(t, "on NATS", string(got), "what was stored before the bucket was configured is found")
	_, err = s.Put(ctx, "tenant/new", bytes.NewReader([]byte("in the bucket")))
	require.NoError(t, err)
	list, err := s.List(ctx)
	require.NoError(t, err)
	names := []string{}
	for _, info := range list {
		names = append(names, info.Name)
	}
	slices.Sort(names)
	require.Equal(t, []string{"tenant/new", "tenant/old"}, names)
	_, err = old.Stat(ctx, "tenant/new")
	require.ErrorIs(t, err, broker.ErrNotFound)
	require.NoError(t, s.Delete(ctx, "tenant/old"))
	_, err = old.Stat(ctx, "tenant/old")
	require.ErrorIs(t, err, broker.ErrNotFound)
}

// A file larger than a part whose reader fails leaves the old one, and a file of several parts is
// read back completely.
func TestPartsOfAFileInABucket(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, brokertest.Open(t, broker.Config{}), bucket(t))
	require.NoError(t, err)
	data := bytes.Repeat([]byte("0123456789abcdef"), (2*partSize+1<<10)/16)
	_, err = s.Put(ctx, "a", bytes.NewReader(data))
	require.NoError(t, err)
	_, err = s.Put(ctx, "a", io.MultiReader(bytes.NewReader(data[:partSize+1]), errReader{}))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	r, info, err := s.Open(ctx, "a")
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, errors.Join(err, r.Close()))
	require.True(t, bytes.Equal(data, got))
	require.EqualValues(t, len(data), info.Size)
}

func TestMissingBucket(t *testing.T) {
	b := bucket(t)
	conn := brokertest.Open(t, broker.Config{})
	b.URL = "s3://other" + b.URL[len("s3://easel"):]
	_, err := Open(t.Context(), conn, b)
	require.ErrorContains(t, err, `bucket "other" does not exist; create it first`)
	b.URL, b.Secret = "s3://easel"+b.URL[len("s3://other"):], "wrong"
	_, err = Open(t.Context(), conn, b)
	require.ErrorContains(t, err, `bucket "easel": `)
}

func TestAddressesOfBuckets(t *testing.T) {
	for url, want := range map[string]string{
		"":                                       "",
		"s3://b/p":                               "the endpoint is not a URL",
		"s3://b/p?endpoint=https://host:9000":    "",
		"s3://b?endpoint=https://host&region=eu": "",
		"s3://b?endpoint=https://host/path":      "the endpoint is not a URL",
		"s3://b?endpoint=https://host&acl=x":     `unknown parameter "acl" (one of endpoint, region)`,
		"https://host/b":                         "is not s3://BUCKET",
		"s3://key:secret@b?endpoint=https://127.0.0.1": "is not s3://BUCKET",
	} {
		err := Bucket{URL: url}.Check()
		if want == "" {
			require.NoError(t, err, url)
			continue
		}
		require.ErrorIs(t, err, ErrBucket)
		require.ErrorContains(t, err, want, url)
		require.NotContains(t, err.Error(), "secret@")
	}
}
