package chunking

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// counted are texts whose tokens are counted as the library counts them.
var counted = []string{
	"", " ", "a", "it's It'S we'RE they'd 'hello x'", "one  two   three ", "\n\n a\r\n\t b \n", "1234567 12a",
	"!!!\n\n??? ...a",
	"第一章 总则\n1.1 退货", "naïve café — “quoted” …", "\u00a0\u2003x \u0085", "a\x00b\xff\xfe",
	"'ſ 'ſt", "🙂🙂 ok", " \u3000 全角　空白 ",
	strings.Repeat("x", 100) + " " + strings.Repeat("ab", 60),
}

func TestCountIsThatOfTheLibrary(t *testing.T) {
	for _, text := range counted {
		require.Equal(t, libraryCount(text), Count(text), "%q", text)
	}
	readme, err := os.ReadFile("../../../../README.md")
	require.NoError(t, err)
	require.Equal(t, libraryCount(string(readme)), Count(string(readme)))
	pieces := []string{
		"a", "Wort", "'", "s", "'ll", " ", "  ", "\n", "\r\n", "\t", "1", "23", "4567",
		".", "—", "退货", "\u00a0", "\u3000", "é", "\u0301",
		"\x80", "🙂", "Ⅷ", "_",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		require.Equal(t, libraryCount(b.String()), Count(b.String()), "%q", b.String())
	}
}

func FuzzCount(f *testing.F) {
	for _, text := range counted {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := libraryCount(text)
		require.Equal(t, want, Count(text))
		l := newLineCounter()
		defer l.close()
		require.Equal(t, want, l.count(text))
		require.Equal(t, want, l.count(text), "of lines that are known")
	})
}

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("Shoes can be returned within thirty days, if they weren't worn outside. ", 1000)
	for name, count := range map[string]func(string) int{"own": Count, "library": libraryCount} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				count(text)
			}
		})
	}
}
