package offline

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// finders lists the find functions and the equivalent regular expressions.
var finders = []struct {
	name    string
	find    func(string) string
	pattern *regexp.Regexp
	texts   []string
}{
	{
		"address", findURL, regexp.MustCompile(`https?://[^\s"'<>，。）)]+`),
		[]string{
			"see https://a.example/x?y=1, or", "(http://a)", "http://", "https://，", "httphttp://b c",
			"看 http://例子。",
		},
	},
	{
		"mail", findEmail, regexp.MustCompile(`[\w.+-]+@[\w-]+\.[\w.-]*\w`),
		[]string{"to a.b+c@d-e.example.", "a@b", "@b.c", "a@b@c.d", "x a@b..c- y", "a@.b c@d.e"},
	},
	{
		"number", findNumber, regexp.MustCompile(`-?\d+(\.\d+)?`),
		[]string{"about -3.50 or 4", "1.", "--2", "a1.2.3", "none"},
	},
	{
		"ticker", findTicker, regexp.MustCompile(`\b[A-Z]{1,5}(\.[A-Z]{1,3})?\b|\b\d{4,6}(\.[A-Z]{2})?\b`),
		[]string{
			"AAPL", "BRK.B now", "BRK.ABCD", "TOOLONG 600519.SS", "12345678", "a_B C", "ABC.D_", "1234.ABC",
			"ABCDé", "X9 Y",
		},
	},
	{
		"date", findDate, regexp.MustCompile(`\d{4}-\d{2}-\d{2}`),
		[]string{"on 2025-01-31.", "12025-01-311", "2025-1-31", "2025-01-3"},
	},
}

// TestFindersMatchTheirExpressions compares on chosen strings and on random ones composed of
// relevant characters.
func TestFindersMatchTheirExpressions(t *testing.T) {
	letters := []rune("http://s@.-+_ ABZaz0159\n，é")
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range finders {
		t.Run(f.name, func(t *testing.T) {
			for _, text := range f.texts {
				require.Equal(t, f.pattern.FindString(text), f.find(text), "%q", text)
			}
			for range 20_000 {
				text := make([]rune, random.IntN(24))
				for i := range text {
					text[i] = letters[random.IntN(len(letters))]
				}
				require.Equal(t, f.pattern.FindString(string(text)), f.find(string(text)), "%q", string(text))
			}
		})
	}
}
