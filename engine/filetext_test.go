package engine_test

import (
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestFilesOfOtherProgramsAreRead(t *testing.T) {
	const text = `{"a": "NaN \" Infinity", "ä": [1, -2]}`
	little, big := []byte("\xff\xfe"), []byte("\xfe\xff")
	for _, u := range utf16.Encode([]rune(text)) {
		little, big = append(little, byte(u), byte(u>>8)), append(big, byte(u>>8), byte(u))
	}
	for name, c := range map[string]struct{ data, want string }{
		"as it is":      {text, text},
		"a mark":        {"\xef\xbb\xbf" + text, text},
		"little endian": {string(little), text},
		"big endian":    {string(big), text},
		"NaN": {
			`{"x": NaN, "y": [-Infinity, Infinity, -1], "z": "NaN\\", "w": NaN}`,
			`{"x": null, "y": [null, null, -1], "z": "NaN\\", "w": null}`,
		},
		"no JSON":      {"\xff\xfea", ""},
		"an open text": {`NaN "NaN\`, `null "NaN\`},
		"an escape":    {`{"Infinity\u0022": Infinity}`, `{"Infinity\u0022": null}`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, string(engine.FileText([]byte(c.data))))
		})
	}
}

// What JSON can be read as is is not changed.
func FuzzFileText(f *testing.F) {
	f.Add([]byte(`{"a": "NaN", "b": 1}`))
	f.Add([]byte("\xff\xfe{\x00}\x00"))
	f.Add([]byte(`"\"NaN`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := engine.ParseJSON(data)
		text := engine.FileText(data)
		if err == nil {
			again, err := engine.ParseJSON(text)
			require.NoError(t, err)
			require.Equal(t, v.JSON(), again.JSON())
		}
	})
}
