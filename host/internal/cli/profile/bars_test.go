package profile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBarsOfElementsAndTools draws the items of the case in the order of the list, and the calls of
// an agent below it, those of its agents below their call.
func TestBarsOfElementsAndTools(t *testing.T) {
	for _, c := range readCases(t) {
		if c.Name != "items at the same time, and an agent with tools" {
			continue
		}
		p := c.compute(t)
		var text bytes.Buffer
		require.NoError(t, p.writeBars(&text))
		line := func(name, bar, seconds string) string {
			return fmt.Sprintf("%-17s |%-60s| %s\n", name, bar, seconds)
		}
		repeat := strings.Repeat
		require.Equal(t, repeat(" ", 17)+"  0"+repeat(" ", 53)+"4.000 s\n"+
			line("begin", "#", "0.000")+
			line("Each", repeat("=", 60), "4.000")+
			line("  [0] Item", "#", "0.000")+
			line("  [0] Agent", repeat("#", 30), "2.000")+
			line("    model m", repeat("=", 15), "1.000")+
			line("    tool Helper", repeat(" ", 15)+repeat("=", 15), "1.000")+
			line("      tool search", repeat(" ", 15)+repeat("=", 7), "0.500")+
			line("  [1] Item", "=", "0.000")+
			line("  [1] Agent", repeat("=", 45), "3.000")+
			line("    model m", repeat("=", 22), "1.500")+
			line("  [2] Item", repeat(" ", 30)+"#", "0.000")+
			line("  [2] Agent", repeat(" ", 30)+repeat("#", 30), "2.000")+
			line("Message", repeat(" ", 59)+"#", "0.000")+
			"# on the critical path  = other work  ~ in a queue; seconds at the end of a line\n", text.String())
		return
	}
	require.Fail(t, "the case is missing")
}

func TestBarsOfALongRunAreCut(t *testing.T) {
	p := Profile{Wall: 1}
	for range mostBars + 5 {
		p.Steps = append(p.Steps, Span{Node: "StringTransform:" + strings.Repeat("long", 20), Parent: -1, Until: 1})
	}
	var text bytes.Buffer
	require.NoError(t, p.writeBars(&text))
	require.Contains(t, text.String(), "\nand 5 more\n")
	for line := range strings.Lines(text.String()) {
		require.LessOrEqual(t, len(line), nameWidth+barWidth+20, line)
	}
}

// A run of no duration, whose events have equal times, has bars all the same.
func TestBarsWithoutDuration(t *testing.T) {
	p := Profile{Steps: []Span{{Node: "begin", Parent: -1}}}
	var text bytes.Buffer
	require.NoError(t, p.writeBars(&text))
	require.Contains(t, text.String(), "begin |="+strings.Repeat(" ", 59)+"| 0.000\n")
}
