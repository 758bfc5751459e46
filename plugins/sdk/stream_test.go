package sdk_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/easel-canvas/easel/plugins/sdk"
)

func TestStreamIsAReader(t *testing.T) {
	body := []byte(strings.Repeat("Ålesund,3\n", 100_000))
	f := sdk.Fake{HTTP: func(r sdk.Request) (*sdk.Response, error) {
		return &sdk.Response{Status: 200, Headers: map[string]string{"X-Url": r.URL}, Body: body}, nil
	}}
	c := f.Call()
	s, err := c.Open(sdk.Request{URL: "http://a.example/year.csv"})
	if err != nil || s.Status != 200 || s.Headers["X-Url"] != "http://a.example/year.csv" {
		t.Fatalf("open: %+v %v", s, err)
	}
	got, err := io.ReadAll(s)
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("read %d of %d bytes: %v", len(got), len(body), err)
	}
	if n, err := s.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close at the end: %v", err)
	}

	lines, err := c.Open(sdk.Request{URL: "http://a.example/"})
	if err != nil {
		t.Fatal(err)
	}
	scan := bufio.NewScanner(lines)
	if !scan.Scan() || scan.Text() != "Ålesund,3" {
		t.Errorf("first line %q, %v", scan.Text(), scan.Err())
	}
	if err := lines.Close(); err != nil {
		t.Errorf("close before the end: %v", err)
	}
	if n, err := lines.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after close: %d %v", n, err)
	}
}

func TestStreamIsDeniedLikeAFetch(t *testing.T) {
	if _, err := (&sdk.Fake{}).Call().Open(sdk.Request{URL: "http://a.example/"}); !sdk.IsCode(err, sdk.Denied) {
		t.Errorf("got %v", err)
	}
	var out any
	err := (&sdk.Fake{}).Call().Ask("http.read", map[string]any{"stream": 3}, &out)
	if !sdk.IsCode(err, sdk.NotFound) {
		t.Errorf("a stream that is not open: %v", err)
	}
}

func TestBasicNamesTheSecretOnly(t *testing.T) {
	c := (&sdk.Fake{}).Call()
	if got := c.Basic("user", "PASSWORD"); got != "Basic {{base64:user:{{secret:PASSWORD}}}}" {
		t.Error(got)
	}
	c.SecretMark = "0123"
	if got := c.Basic("user", "PASSWORD"); got != "Basic {{base64:user:{{secret:PASSWORD:0123}}}}" {
		t.Error(got)
	}
}
