package terms

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// indexed lists the terms of a text, stop words in brackets and single characters in angles.
func indexed(t *testing.T, s Settings, text string) string {
	t.Helper()
	a, err := New(s)
	require.NoError(t, err)
	var out []string
	for _, term := range a.Append(nil, text) {
		switch {
		case term.Stop:
			out = append(out, "["+term.Text+"]")
		case term.Single:
			out = append(out, "<"+term.Text+">")
		default:
			out = append(out, term.Text)
		}
	}
	return strings.Join(out, " ")
}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		s          Settings
		text, want string
	}{
		{Settings{}, "The goods' returns, running; Relational", "[the] good return run relat"},
		{Settings{}, "ERR-4711 costs 3.50 or 1,000. Don't! (John’s)", "err 4711 cost 3.50 [or] 1,000 don't john"},
		{Settings{}, "ＡＢＣ１２ Cafe\u0301", "abc12 café"},
		{Settings{}, "退货政策", "<退> 退货 <货> 货政 <政> 政策 <策>"},
		{Settings{}, "A水B", "[a] 水 b"},
		{Settings{Language: "german"}, "Die Häuser der Verträge", "die haus der vertrag"},
		{Settings{Language: "french"}, "les continuellement", "le continuel"},
		{Settings{Stemmer: "none"}, "Running the p53s", "running [the] p53s"},
		{Settings{Language: "none", Stemmer: "porter"}, "the flies", "the fli"},
	} {
		require.Equal(t, c.want, indexed(t, c.s, c.text), c.text)
	}
}

func TestQueryDropsStopWordsUnlessAlone(t *testing.T) {
	a, err := New(Settings{})
	require.NoError(t, err)
	require.Equal(t, []string{"return", "good"}, a.Query("how is the return of goods")[1:])
	require.Equal(t, []string{"to", "be", "or", "not", "to", "be"}, a.Query("To be or not to be"))
	require.Equal(t, []string{"货"}, a.Query("货"))
}

func TestChineseQuestions(t *testing.T) {
	a, err := New(Settings{})
	require.NoError(t, err)
	for text, want := range map[string]string{
		"退货政":     "退 退货 货 货政 政",
		"怎么退货吗":   "退 退货 货",
		"目的":      "目 目的",
		"为什么 SAP": "sap",
		"什么":      "什 什么 么", // nothing else is asked
		"カメラ":     "カメ メラ",
	} {
		require.Equal(t, want, strings.Join(a.Query(text), " "), text)
	}
	require.Equal(t, []string{"退货", "货政"}, a.Marked("如何退货政"))
	require.Equal(t, []string{"货"}, a.Marked("货"))
}

func TestTermsKeepTheirPlace(t *testing.T) {
	a, err := New(Settings{})
	require.NoError(t, err)
	const text = "Über Cafe\u0301s, 退货!"
	for _, term := range a.Append(nil, text) {
		require.Contains(t, []string{"Über", "Cafe\u0301s", "退", "货", "退货"}, text[term.Start:term.End])
	}
}

func TestUnknownLanguage(t *testing.T) {
	_, err := New(Settings{Language: "klingon"})
	require.ErrorContains(t, err, `unknown language "klingon" (one of none, danish, dutch, english`)
	_, err = New(Settings{Stemmer: "latin"})
	require.ErrorContains(t, err, `unknown stemmer "latin" (one of none, porter, danish`)
}

// Each term lies inside the text and in order, whatever the bytes are.
func FuzzTerms(f *testing.F) {
	f.Add("The goods' returns 退货 3.50")
	f.Add("\xff\xfe水\xff'")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := New(Settings{})
		require.NoError(t, err)
		last := 0
		for _, term := range a.Append(nil, text) {
			require.GreaterOrEqual(t, term.Start, last)
			require.Greater(t, term.End, term.Start)
			require.LessOrEqual(t, term.End, len(text))
			last = term.Start
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	text := strings.Repeat("The relational databases are returning goods that customers ordered 42 days ago. ", 100)
	a, err := New(Settings{})
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	var out []Term
	for b.Loop() {
		out = a.Append(out[:0], text)
	}
}

// The words of foldASCII equal those of the general path, letter by letter.
func TestFoldASCII(t *testing.T) {
	general, err := New(Settings{})
	require.NoError(t, err)
	fast, err := New(Settings{})
	require.NoError(t, err)
	taken := 0
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("abzAZ059'.,- é日’\u0301")
	for range 20_000 {
		var b strings.Builder
		for range 1 + rng.IntN(12) {
			b.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		text := b.String()
		end := fast.foldASCII(text, 0)
		if end == 0 {
			continue
		}
		taken++
		require.Equal(t, wordEnd(text, 0), end, "%q", text)
		require.Equal(t, string(general.fold(text[:end])), string(fast.folded), "%q", text)
	}
	require.Greater(t, taken, 2_000)
	long := strings.Repeat("a", longestTerm+1)
	require.Zero(t, fast.foldASCII(long, 0), "a word that is cut")
	require.LessOrEqual(t, cap(fast.folded), 2*longestTerm)
}
