package runlog

import (
	"testing"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/stretchr/testify/require"
)

func TestPos(t *testing.T) {
	for _, p := range []Pos{{}, {1, 0}, {7, 1 << 60}} {
		got, err := ParsePos(p.String())
		require.NoError(t, err)
		require.Equal(t, p, got)
	}
	for _, bad := range []string{"x", "1-", "-1", "1-2-3", " 1", "99999999999999999999"} {
		_, err := ParsePos(bad)
		require.Error(t, err, bad)
	}
}

func FuzzDecodeBundle(f *testing.F) {
	b := bundle{
		owner: "h.r.1", attempt: 1, first: 3, end: true,
		records: []Record{{Kind: "ev", Data: []byte("{}")}, {Data: []byte("!x"), packed: true}, {}},
	}
	f.Add(b.encode())
	f.Add([]byte{1, 0, 0, 0, 0, 200, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decodeBundle(data, 9)
		if err != nil {
			require.ErrorIs(t, err, broker.ErrDamaged)
			return
		}
		again, err := decodeBundle(b.encode(), 9)
		require.NoError(t, err)
		require.Equal(t, b, again)
	})
}

func FuzzParsePos(f *testing.F) {
	f.Add("12-3456")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := ParsePos(text); err == nil {
			again, err := ParsePos(p.String())
			require.NoError(t, err)
			require.Equal(t, p, again)
		}
	})
}
