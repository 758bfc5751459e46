package knowledge

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/document/hostile"
)

// Tables, JSON and texts that multiply take no more memory than their text and one row or element
// of them.
func TestHostileTables(t *testing.T) {
	for _, f := range hostile.Set() {
		name := f.Name
		if !isPlain(name) || strings.HasSuffix(name, ".txt") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			data := f.Make()
			b := &Base{}
			d, err := b.parse(t.Context(), name, document.Bytes(name, "", data))
			var held, passages int
			if err == nil {
				before, most := live(), uint64(0)
				for p, failed := range d.passages {
					if err = failed; err != nil {
						break
					}
					held += len(p.heading)
					if passages++; passages%500_000 == 0 {
						most = max(most, above(before))
					}
				}
				most = max(most, above(before))
				require.Less(t, most, uint64(100<<20))
			}
			t.Logf("%d passages: %.100v", passages, err)
			require.LessOrEqual(t, held, passages*longestName)
			require.LessOrEqual(t, passages*passageCost, max(leastPassages, 4*len(data)))
		})
	}
}

// above is how many more bytes of the heap are in use than before.
func above(before uint64) uint64 {
	now := live()
	return now - min(before, now)
}

// live is how many bytes of the heap are in use.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Ordinary tables and JSON become the passages that they were before they were read piece by piece.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		says       string
	}{
		{"a.csv", "name;days\nshoes;30\n;\nhats;\"7\n8\";x\n", []string{"name: shoes\ndays: 30", "name: hats\ndays: 7\n8\ncolumn 3: x"}, ""},
		{"a.csv", "", nil, ""},
		{"a.csv", "name\n\"" + strings.Repeat("x", 2<<20), nil, "bytes in one row"},
		{"a.json", ` [ {"a": [1, "]," ]}, "x" , [2,{"b":{"c":null,"d":3}}] ] `, []string{"a: 1\na: ],", "x", "2\nb.d: 3"}, ""},
		{"a.json", "[]", nil, ""},
		{"a.json", "[ ]", nil, ""},
		{"a.json", `{"a":{"b":1},"c":true}`, []string{"a.b: 1\nc: true"}, ""},
		{"a.json", "[1,]", []string{"1"}, "JSON"},
		{"a.json", "[1", nil, "inside of the list"},
		{"a.json", "[1] 2", []string{"1"}, "after the list"},
		{"a.json", "[1}", []string{"1"}, "after the list"},
		{"a.json", `["\""]`, []string{`"`}, ""},
		{"a.jsonl", "{\"a\":1}\n\n[2,3]\n", []string{"a: 1", "2\n3"}, ""},
		{"a.json", `{"a":[` + strings.Repeat("1,", mostValues) + "1]}", nil, "values in one element"},
	} {
		t.Run(c.name+" "+c.text[:min(len(c.text), 20)], func(t *testing.T) {
			d, err := (&Base{}).parse(t.Context(), filepath.Join("d", c.name), document.Bytes(c.name, "", []byte(c.text)))
			require.NoError(t, err)
			var got []string
			for p, failed := range d.passages {
				if err = failed; err == nil {
					got = append(got, p.text)
				}
			}
			require.Equal(t, c.want, got)
			if c.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.says)
			}
		})
	}
}
