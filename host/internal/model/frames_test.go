package model

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/modeltest"
)

func TestFramesAreEvents(t *testing.T) {
	stream := modeltest.Frame("messageStart", `{"role":"assistant"}`) + modeltest.Frame("other\nevent: x", "{\r\n}") +
		modeltest.Exception("throttlingException", "slow down")
	const want = "event: messageStart\ndata: {\"role\":\"assistant\"}\n\nevent: other event: x\ndata: {  }\n\n" +
		"event: throttlingException\ndata: {\"message\":\"slow down\"}\n\n"
	for name, from := range map[string]io.Reader{
		"whole": strings.NewReader(stream), "in bytes": iotest.OneByteReader(strings.NewReader(stream)),
	} {
		text, err := io.ReadAll(&frames{from: from})
		require.NoError(t, err, name)
		require.Equal(t, want, string(text), name)
	}
}

func TestBrokenFrames(t *testing.T) {
	good := modeltest.Frame("messageStart", `{"role":"assistant"}`)
	changed := func(at int) string { return good[:at] + string(good[at]^0x40) + good[at+1:] }
	for name, c := range map[string]struct {
		stream string
		want   error
	}{
		"a page":             {"<html>" + strings.Repeat(" ", 20), ErrBroken},
		"cut in the lengths": {good[:7], io.ErrUnexpectedEOF},
		"cut in the headers": {good[:20], io.ErrUnexpectedEOF},
		"cut after lengths":  {good[:12], io.ErrUnexpectedEOF},
		"a changed length":   {changed(3), ErrBroken},
		"a changed header":   {changed(15), ErrBroken},
		"a changed payload":  {changed(len(good) - 8), ErrBroken},
	} {
		_, err := io.ReadAll(&frames{from: strings.NewReader(c.stream)})
		require.ErrorIs(t, err, c.want, name)
	}
}

// Errors are of known kinds, and an event is hardly longer than its message.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(modeltest.Frame("messageStart", `{}`)))
	f.Add([]byte(modeltest.Exception("throttlingException", "slow down") + "x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := io.ReadAll(&frames{from: strings.NewReader(string(data))})
		known := errors.Is(err, ErrBroken) || errors.Is(err, ErrTooLarge) || errors.Is(err, io.ErrUnexpectedEOF)
		require.True(t, err == nil || known, "%v", err)
		require.LessOrEqual(t, len(text), 4*len(data)+1)
		headers, err := frameHeaders(data)
		require.True(t, err != nil || len(headers) <= len(data))
	})
}
