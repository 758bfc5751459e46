package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// instruction is an instruction of a Dockerfile with its continuation lines.
type instruction struct{ name, rest string }

func dockerfile(t testing.TB) (out []instruction) {
	t.Helper()
	open := ""
	for line := range strings.Lines(readFile(t, "Dockerfile")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if rest, more := strings.CutSuffix(open+line, `\`); more {
			open = rest
			continue
		}
		name, rest, _ := strings.Cut(open+line, " ")
		out, open = append(out, instruction{name, strings.TrimSpace(rest)}), ""
	}
	require.Empty(t, open)
	return out
}

func only(t testing.TB, list []instruction, name string) (out []string) {
	t.Helper()
	for _, i := range list {
		if i.name == name {
			out = append(out, i.rest)
		}
	}
	require.NotEmpty(t, out, name)
	return out
}

// Files that are copied into the image exist, and no ignore rule excludes them.
func TestFilesOfTheImage(t *testing.T) {
	ignored := strings.Fields(regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(readFile(t, "Dockerfile.dockerignore"),
		""))
	for _, c := range only(t, dockerfile(t), "COPY") {
		if strings.Contains(c, "--from=") {
			continue
		}
		words := strings.Fields(c)
		for _, source := range words[:len(words)-1] {
			_, err := os.Stat(filepath.Join("../..", source))
			require.NoError(t, err, c)
			require.NotContains(t, ignored, source)
		}
	}
	for _, rule := range ignored {
		if rest, ok := strings.CutPrefix(rule, "!"); ok || !strings.Contains(rule, "*") && rule != "build/out" &&
			rule != "easel-data" && rule != ".git" {
			_, err := os.Stat(filepath.Join("../..", filepath.Dir(rest)))
			require.NoError(t, err, "the rule matches no file: %s", rule)
		}
	}
}

// The stages use the versions that the repository requires.
func TestVersionsOfTheImage(t *testing.T) {
	module := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "../../go.mod"))
	require.NotNil(t, module)
	from := strings.Join(only(t, dockerfile(t), "FROM"), "\n")
	require.Contains(t, from, "golang:"+module[1]+"-")
	require.Contains(t, readFile(t, "../../README.md"), "Node 20")
	require.Contains(t, from, "node:20-")
	require.NotContains(t, from, ":latest")
}

// The last stage has neither root nor a shell, so every command is a list.
func TestImage(t *testing.T) {
	list := dockerfile(t)
	last := 0
	for i, in := range list {
		if in.name == "FROM" {
			last = i
		}
	}
	final := list[last:]
	require.Contains(t, final[0].rest, "distroless/static")
	require.NotContains(t, final, "RUN")
	require.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, only(t, final, "USER")[0])
	require.Contains(t, only(t, final, "HEALTHCHECK")[0], `CMD ["/usr/local/bin/easel", "health"]`)
	for _, name := range []string{"ENTRYPOINT", "CMD"} {
		require.True(t, strings.HasPrefix(only(t, final, name)[0], "["), name)
	}
	for _, v := range variables.FindAllString(only(t, final, "ENV")[0], -1) {
		requireVariable(t, v)
	}
	known := "ARG LABEL FROM COPY RUN WORKDIR ENV USER VOLUME EXPOSE HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD"
	for _, in := range list {
		require.Contains(t, strings.Fields(known), in.name)
	}
}
