package pack_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/runlog/pack"
)

// store is a place for blobs.
type store map[string][]byte

func (s store) keep(blobs []pack.Blob) {
	for _, b := range blobs {
		s[b.ID] = b.JSON
	}
}

func (s store) read(id string) ([]byte, error) {
	if b, ok := s[id]; ok {
		return b, nil
	}
	return nil, errors.New("no such blob")
}

func TestUnpackGivesWhatWasPacked(t *testing.T) {
	long := strings.Repeat(`é\"\\,]}`, 20)
	numbers := strings.TrimSuffix(strings.Repeat("1.00,", 60), ",")
	tests := []struct{ name, record string }{
		{"a large text", `{"a":"` + long + `","n":1.0}`},
		{"a large list", `{"a":{"b":[` + numbers + `]},"c":[]}`},
		{
			"a large value inside a large value",
			`{"a":{"b":"` + long + `","c":[` + numbers + `],"d":[` + numbers + `]}}`,
		},
		{"many small values", `{"a":[` + strings.TrimSuffix(strings.Repeat(`"xxxxxxxx",`, 50), ",") + `]}`},
		{
			"an object that looks like a reference",
			`{"a":"` + long + `","b":{"$blob":"x"},"c":{"$$blob":1,"$blob":2},"d":{"blob":3}}`,
		},
		{"empty values", `{"a":"` + long + `","b":{},"c":[],"d":"","e":[{},[]],"f":null,"g":-1e5,"h":true}`},
		{"a small record", `{"a":{"$blob":"x"}}`},
		{"not an object", `"` + long + `"`},
		{"truncated", `{"a":"` + long + `"`},
		{"invalid JSON", strings.Repeat("x", 200)},
		{"nothing", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, s := pack.Packer{Limit: 100}, store{}
			stored, blobs := p.Pack([]byte(tt.record))
			s.keep(blobs)
			got, err := pack.Unpack(stored, s.read)
			require.NoError(t, err)
			require.Equal(t, tt.record, string(got))
		})
	}
}

func TestALargeValueIsStoredOnce(t *testing.T) {
	value := `"` + strings.Repeat("x", 2*pack.Limit) + `"`
	var p pack.Packer
	size, count := 0, 0
	for i := range 10 {
		stored, blobs := p.Pack(fmt.Appendf(nil, `{"seq":%d,"data":{"outputs":{"content":%s}}}`, i, value))
		size += len(stored)
		count += len(blobs)
	}
	require.Equal(t, 1, count)
	require.Less(t, size, 2000, "ten records that repeat it stay small")
}

func TestSmallRecordsCostNothing(t *testing.T) {
	record := []byte(`{"seq":1,"data":{"outputs":{"content":"hi"}}}`)
	var p pack.Packer
	require.Zero(t, testing.AllocsPerRun(100, func() { p.Pack(record) }))
}

func TestUnpackReportsErrors(t *testing.T) {
	p := pack.Packer{Limit: 100}
	stored, _ := p.Pack([]byte(`{"a":"` + strings.Repeat("x", 200) + `"}`))
	_, err := pack.Unpack(stored, store{}.read)
	require.ErrorContains(t, err, "no such blob")
	_, err = pack.Unpack(stored, func(string) ([]byte, error) { return []byte(`"another"`), nil })
	require.ErrorIs(t, err, pack.ErrDamaged, "a blob that is not what its id says")
	_, err = pack.Unpack([]byte(`!{"a":`), store{}.read)
	require.ErrorIs(t, err, pack.ErrDamaged)
}

func FuzzPack(f *testing.F) {
	f.Add([]byte(`{"a":["xxxxxxxxxxxx",{"$blob":"x"}],"b":{"$$blob":[1,2,3,4,5,6,7,8]}}`))
	f.Add([]byte(`!{"a":1}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		if len(record) > 0 && record[0] == '!' {
			_, _ = pack.Unpack(record, store{}.read) // an invalid record is an error, no panic
			return
		}
		p, s := pack.Packer{Limit: 8}, store{}
		stored, blobs := p.Pack(record)
		s.keep(blobs)
		got, err := pack.Unpack(stored, s.read)
		require.NoError(t, err)
		require.Equal(t, string(record), string(got))
	})
}
