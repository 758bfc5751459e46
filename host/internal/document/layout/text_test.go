package layout

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Lines are joined as a reader would: hyphens that divide a word go, others stay, and a blank is
// lost nowhere.
func TestJoinLines(t *testing.T) {
	var known Compounds // of the rest of the document
	known.Add("the (long-term) goals, of Real\u2010Time systems and for exam-")
	for _, c := range []struct{ first, second, want string }{
		{"over the", "lazy dog", "over the lazy dog"},
		{"some exam-", "ple of it", "some example of it"},
		{"some exam\u2010", "ple of it", "some example of it"},
		{"some exam\u00ad", "ple of it", "some example of it"},
		{"the haupt-", "und nebensatz", "the haupt- und nebensatz"},
		{"two-", "or three-line", "two- or three-line"},
		{"a pre\u2010", "and postfix", "a pre\u2010 and postfix"},
		{"some thous-", "andths of it", "some thousandths of it"},
		{"a state-of-", "the-art machine", "a state-of-the-art machine"},
		{"https://example.com/long-", "path", "https://example.com/long-path"},
		{"from 2020-", "2024 on", "from 2020-2024 on"},
		{"type X-", "12 and", "type X-12 and"},
		{"part \"AB-", "12\"", "part \"AB-12\""},
		{"the A-", "B test", "the A-B test"},
		{"this is one -", "and another", "this is one - and another"},
		{"-", "a", "- a"},
		{"30-", "(a)", "30- (a)"},
		{"a state-", "of-the-art machine", "a state-of-the-art machine"},
		{"a (well-", "known) method", "a (well-known) method"},
		{"its well-", "ness", "its wellness"},
		{"a Self-", "signed certificate", "a Self-signed certificate"},
		{"a self-", "ish answer", "a selfish answer"},
		{"the Long-", "term, goal", "the Long-term, goal"},
		{"a real\u2010", "time clock", "a real\u2010time clock"},
		{"\"long-", "itude", "\"longitude"},
		{"中文", "文字", "中文文字"},
		{"中文", "text", "中文 text"},
	} {
		require.Equal(t, c.want, joinLines([]string{c.first, c.second}, &known), "%q, %q", c.first, c.second)
	}
}
