package engine

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var limitRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| [^|]+ \\| ([0-9,]+)( MiB)? \\|$")

func TestLimitsAreThoseOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../docs/operate/one-machine.md")
	require.NoError(t, err)
	documented := map[string]int64{}
	for _, m := range limitRow.FindAllStringSubmatch(string(guide), -1) {
		n, err := strconv.ParseInt(strings.ReplaceAll(m[2], ",", ""), 10, 64)
		require.NoError(t, err)
		if m[3] != "" {
			n <<= 20
		}
		documented[m[1]] = n
	}
	defaults := map[string]int64{}
	for _, k := range limitKinds {
		if k.standard != math.MaxInt64 {
			defaults[k.name] = k.standard
		}
	}
	require.Equal(t, defaults, documented)
}
