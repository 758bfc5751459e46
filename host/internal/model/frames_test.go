package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

func TestFramesAreEvents(t *testing.T) {
	stream := modeltest.Frame("messageStart", `{"role":"assistant"}`) + modeltest.Frame("other\nevent: x", "{\r\n}") +
		modeltest.Exception("throttlingException", "slow down")
	const want = "event: messageStart\ndata: {\"role\":\"assistant\"}\n\nevent: other event: x\ndata: {  }\n\n" +
		"event: failure:throttlingException\ndata: {\"message\":\"slow down\"}\n\n"
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

// Headers that nothing reads take no memory.
func TestOtherHeadersOfFrames(t *testing.T) {
	var data []byte
	for i := range 1000 {
		data = binary.BigEndian.AppendUint16(append(data, 2), uint16(i))
		data = append(data, headerString, 0, 0)
	}
	headers, err := frameHeaders(data)
	require.NoError(t, err)
	require.Empty(t, headers)
}

// Errors are of known kinds, and the length of an event is in proportion to that of its message: an
// escape of JSON has up to six bytes.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(modeltest.Frame("messageStart", `{}`)))
	f.Add([]byte(modeltest.Exception("throttlingException", "slow down") + "x"))
	f.Add([]byte(modeltest.Failure("a", "\x00\xff", "\x01\x01")))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := io.ReadAll(&frames{from: strings.NewReader(string(data))})
		known := errors.Is(err, ErrBroken) || errors.Is(err, ErrTooLarge) || errors.Is(err, io.ErrUnexpectedEOF)
		require.True(t, err == nil || known, "%v", err)
		require.LessOrEqual(t, len(text), 7*len(data)+1)
		headers, err := frameHeaders(data)
		require.True(t, err != nil || len(headers) <= len(frameNames))
	})
}

// The checksums of these messages are those of the test vectors that AWS publishes for its clients.
func TestFramesOfPublishedVectors(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"no headers": {
			"\x00\x00\x00\x1d\x00\x00\x00\x00\xfd\x52\x8c\x5a{'foo':'bar'}\xc3\x65\x39\x36", "{'foo':'bar'}",
		},
		"a header that is a number": {
			"\x00\x00\x00\x2b\x00\x00\x00\x0e\x34\x8b\xec\x7b\x08event-id\x04\x00\x00\xa0\x0c" +
				"{'foo':'bar'}\xd3\x89\x02\x85",
			"{'foo':'bar'}",
		},
		"empty": {"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff", ""},
	} {
		read, err := io.ReadAll(&frames{from: strings.NewReader(c.message)})
		require.NoError(t, err, name)
		require.Equal(t, "event: \ndata: "+c.want+"\n\n", string(read), name)
		for i := range len(c.message) {
			broken := []byte(c.message)
			broken[i] ^= 1
			_, err := io.ReadAll(&frames{from: bytes.NewReader(broken)})
			require.Error(t, err, "%s, byte %d", name, i)
		}
	}
}
