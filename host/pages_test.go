package host

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// README.md here and the pages in docs/operate describe the program. After a change of metrics:
//
//	go test ./host -run Page -update
var update = flag.Bool("update", false, "update the table of metrics")

var (
	metricHead  = regexp.MustCompile(`^# (HELP|TYPE) (\S+) (.*)$`)
	metricLabel = regexp.MustCompile(`(\w+)="`)
)

// metricTable makes a table of the metrics that a host exports.
func metricTable(scraped string) string {
	type metric struct{ name, help, kind, labels string }
	var list []*metric
	for line := range strings.Lines(scraped) {
		line = strings.TrimSpace(line)
		if m := metricHead.FindStringSubmatch(line); m != nil {
			if m[1] == "HELP" {
				list = append(list, &metric{name: m[2], help: m[3]})
			} else {
				list[len(list)-1].kind = m[3]
			}
			continue
		}
		last := list[len(list)-1]
		for _, l := range metricLabel.FindAllStringSubmatch(line, -1) {
			if label := "`" + l[1] + "`"; l[1] != "le" && l[1] != "quantile" && !strings.Contains(last.labels, label) {
				last.labels = strings.TrimPrefix(last.labels+", "+label, ", ")
			}
		}
	}
	var b strings.Builder
	b.WriteString("| metric | kind | labels | |\n| --- | --- | --- | --- |\n")
	for _, m := range list {
		if strings.HasPrefix(m.name, "easel_") {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, m.kind, m.labels, m.help)
		}
	}
	if slices.ContainsFunc(list, func(m *metric) bool { return strings.HasPrefix(m.name, "go_") }) {
		b.WriteString("| `go_*`, `process_*` | | | the standard metrics of a Go program |\n")
	}
	return b.String()
}

func TestPageOfMetrics(t *testing.T) {
	url, canvas := documentHost(t, "")
	_, errs, _ := ask(t, url, canvas, sendFile(t, url, canvas, "a.txt", []byte("text")))
	require.Empty(t, errs)
	scraped := asked(t, url, "GET", "/metrics", "", "")

	kept, err := os.ReadFile("README.md")
	require.NoError(t, err)
	const begin, end = "<!-- made: metrics -->\n", "<!-- end -->"
	before, rest, ok := strings.Cut(string(kept), begin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	page := before + begin + metricTable(scraped) + end + after
	if *update {
		require.NoError(t, os.WriteFile("README.md", []byte(page), 0o644))
		return
	}
	require.Equal(t, string(kept), page, "README.md is old: go test ./host -run Page -update")
}

// fromOutside are parts of messages that other programs produce.
var fromOutside = []string{
	"bind: address already in use", "connection refused", `"log":"nok"`, `"db":"nok"`, "/readyz",
	"easel health", "secret.key", "--postgres", "--nats", "-js",
}

var quoted = regexp.MustCompile("`([^`]+)`")

// Each message in the table of errors occurs in the program.
func TestPageOfErrors(t *testing.T) {
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "| message |")
	require.True(t, ok)
	var sources strings.Builder
	err = filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		sources.Write(text)
		return err
	})
	require.NoError(t, err)
	for line := range strings.Lines(table) {
		column, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, q := range quoted.FindAllStringSubmatch(column, -1) {
			for part := range strings.SplitSeq(strings.ReplaceAll(q[1], "; ", "..."), "...") {
				for piece := range strings.SplitSeq(part, ": ") {
					if !slices.Contains(fromOutside, piece) && !slices.Contains(fromOutside, part) {
						require.Contains(t, sources.String(), strings.TrimSpace(piece), "nothing says this: %s", q[1])
					}
				}
			}
		}
	}
}
