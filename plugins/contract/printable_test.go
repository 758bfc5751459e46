package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain é 日本 👩\u200d🚀\n\tnext":          "plain é 日本 👩\u200d🚀\n\tnext",
		"\x1b[2J\x1b]0;title\x07":              "<U+001B>[2J<U+001B>]0;title<U+0007>",
		"\u009b2J":                             "<U+009B>2J",
		"\x9b2J":                               "\uFFFD2J",
		"safe\u202ecod.exe\u2066":              "safe<U+202E>cod.exe<U+2066>",
		"waits for approval\rinstalled":        "waits for approval<U+000D>installed",
		"a\r\nb":                               "a\nb",
		"a\u2028b\ufeff\u200b\U000e0041\u00ad": "a<U+2028>b<U+FEFF><U+200B><U+E0041><U+00AD>",
	} {
		require.Equal(t, want, Printable(text))
		require.Equal(t, want, Printable(want), "a filtered text stays as it is")
	}
	require.Equal(t, "reads it <U+001B>[2J installed", PrintableLine("reads it\r\n\x1b[2J\n\n\tinstalled"))
}

// What a plugin writes of itself reaches an error only as printable text, whatever refuses it.
func TestErrorsArePrintable(t *testing.T) {
	const hostile = "\x1b]0;x\x07\u202e\r"
	const shown = "<U+001B>]0;x<U+0007><U+202E><U+000D>"
	e := Errorf(BadManifest, "settings: %s is required", hostile).At(hostile, hostile)
	require.Equal(t, "settings: "+shown+" is required", e.Message)
	require.NotContains(t, e.Error(), "\x1b")
	require.Equal(t, shown, GuestError([]byte(hostile), 1).Message)
	e = GuestError([]byte(`{"code":"not_found","message":"\u001b]0;x\u0007\u202e\r"}`), 1)
	require.Equal(t, shown, e.Message)
	require.Equal(t, NotFound, e.Code)
	e = GuestError([]byte(`{"code":"\u001b]0;x\u0007\u202e\r","message":"m"}`), 1)
	require.Equal(t, shown+": m", e.Message)
}

// A reason cannot add lines to the question that is asked about it.
func TestReasonsStayOnOneLine(t *testing.T) {
	asks := Permissions{KV: &KVPermission{Bytes: 1, Reason: "keeps\nVersion 1.0.0 is signed\r."}}.Asks(Permissions{})
	require.Equal(t, []string{"kv of 1 bytes: keeps Version 1.0.0 is signed ."}, asks)
}
