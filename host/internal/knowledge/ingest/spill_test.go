package ingest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files of all sizes are stored whole; only small ones are in memory.
func TestSpill(t *testing.T) {
	for _, size := range []int{0, 10, mostCollected, mostCollected + 1, 3 * mostCollected} {
		want := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		var got []byte
		s := &spill{put: func(r io.Reader) (err error) {
			got, err = io.ReadAll(r)
			return err
		}}
		for rest := want; len(rest) > 0; {
			n, err := s.Write(rest[:min(len(rest), 1000)])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, s.close(nil))
		require.True(t, bytes.Equal(want, got), size)
		require.Equal(t, size > 0 && size <= mostCollected, s.data != nil, size)
	}
}

// A writer that fails stores nothing, and one whose file cannot be stored hears why.
func TestSpillFails(t *testing.T) {
	broken, full := errors.New("broken"), errors.New("disk is full")
	for _, size := range []int{10, 2 * mostCollected} {
		stored := false
		s := &spill{put: func(r io.Reader) error {
			_, err := io.ReadAll(r)
			stored = err == nil
			return err
		}}
		_, err := s.Write(make([]byte, size))
		require.NoError(t, err)
		require.Equal(t, broken, s.close(broken))
		require.False(t, stored)

		s = &spill{put: func(io.Reader) error { return full }}
		for range 3 { // the last ones find a closed pipe
			if _, err = s.Write(make([]byte, size)); err != nil {
				break
			}
		}
		require.ErrorIs(t, s.close(err), full)
		require.Equal(t, size > mostCollected, err != nil)
	}
}
