package cli

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// quickStart finds the section of a page that a reader follows first.
var quickStart = regexp.MustCompile(`(?ms)^## Quick start\n(.*?)(\n## |\z)`)

// TestQuickStarts runs the shell blocks of every README with a quick start as they are printed.
func TestQuickStarts(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	var pages []string
	require.NoError(t, filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == "node_modules" || path == filepath.Join(root, "build", "out")) {
			return filepath.SkipDir
		}
		if e.Name() == "README.md" {
			text, err := os.ReadFile(path)
			if err == nil && quickStart.Match(text) {
				pages = append(pages, path)
			}
			return err
		}
		return nil
	}))
	require.NotEmpty(t, pages)
	for _, page := range pages {
		name, err := filepath.Rel(root, page)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			pluginFolder(t)
			t.Setenv("GOWORK", "off")
			t.Setenv("GOPROXY", "off")
			t.Chdir(t.TempDir())
			s := &quickStarter{t: t}
			s.run(string(quickStart.FindSubmatch(text)[1]))
		})
	}
}

// quickStarter follows a quick start in the current directory.
type quickStarter struct {
	t    *testing.T
	host *served // of easel serve
	file string  // that the next block of JSON is saved as
	id   string  // of a canvas on the host
	// promised are commands with the answers that the text promises for the files saved so far.
	promised [][]string
}

var (
	savedAs = regexp.MustCompile("save this as `([^`]+)`")
	promise = regexp.MustCompile("`(easel [^`]+)` answers `([^`]+)`")
)

func (s *quickStarter) run(section string) {
	for i, part := range strings.Split(section, "\n```") {
		kind, block, _ := strings.Cut(part, "\n")
		switch {
		case i%2 == 0:
			s.read(part)
		case kind == "json":
			require.NoError(s.t, os.WriteFile(s.file, []byte(block), 0o600))
			for _, p := range s.promised {
				require.Contains(s.t, s.line(p[1]), p[2])
			}
			s.promised = nil
		default:
			for line := range strings.Lines(block) {
				s.line(line)
			}
		}
	}
	require.Empty(s.t, s.promised)
	if s.host != nil {
		require.NoError(s.t, s.host.stop())
	}
}

// read takes from a paragraph which file comes next, and what it is for.
func (s *quickStarter) read(text string) {
	if m := savedAs.FindStringSubmatch(text); m != nil {
		s.file = m[1]
	}
	s.promised = append(s.promised, promise.FindAllStringSubmatch(text, -1)...)
}

// line runs a line of a shell block.
func (s *quickStarter) line(line string) string {
	line, _, _ = strings.Cut(line, "  #")
	words := shellWords(line)
	switch {
	case len(words) == 0:
		return ""
	case words[0] == "curl":
		return s.curl(words[1:])
	case words[0] == "easel" && words[1] == "serve":
		s.host = serve(s.t, nil, words[2:]...)
		return ""
	}
	require.Equal(s.t, "easel", words[0], line)
	return succeeds(s.t, words[1:]...)
}

// curl sends a request to the host. KEY, ADDRESS and ID stand for what the lines before have shown.
func (s *quickStarter) curl(words []string) string {
	key := s.host.file(`key: see (\S+)\n`)
	values := strings.NewReplacer("KEY", key, "ADDRESS", s.host.url, "ID", s.id)
	method, address, body := "GET", "", ""
	header := http.Header{}
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "-H":
			i++
			name, value, _ := strings.Cut(values.Replace(words[i]), ": ")
			header.Set(name, value)
		case "-d":
			i++
			method, body = "POST", words[i]
		default:
			address = values.Replace(words[i])
		}
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, address, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header = header
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, res.StatusCode, "%s\n%s", text, s.host.out)
	require.NotContains(s.t, string(text), `"code":1`, "the envelope of a failure")
	if s.id == "" {
		s.id = member(s.t, string(text), "id")
	}
	return string(text)
}

// shellWords splits a line into words, which may be quoted.
func shellWords(line string) (words []string) {
	for _, m := range regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		words = append(words, m[1]+m[2]+m[3])
	}
	return words
}
