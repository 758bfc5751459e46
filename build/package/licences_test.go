package packaging

import (
	"debug/buildinfo"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every module that the linker put into the program is in its list, with its version.
func TestLicencesOfTheProgram(t *testing.T) {
	info, err := buildinfo.ReadFile(program(t))
	require.NoError(t, err)
	out, err := exec.Command(program(t), "licences").Output()
	require.NoError(t, err)
	require.Greater(t, len(info.Deps), 50)
	for _, m := range info.Deps {
		if !strings.HasPrefix(m.Path, "github.com/easel-canvas/easel") {
			require.Contains(t, string(out), "\n"+m.Path+" "+m.Version+" ", "run `make licences`")
		}
	}
}

// The image contains the notices that the licences in the program require, for users who do not
// start it.
func TestLicencesOfTheImage(t *testing.T) {
	list := dockerfile(t)
	files := strings.Join(only(t, list, "COPY"), "\n")
	for _, name := range []string{"LICENSE", "NOTICE", "build/licences/lists/program.txt"} {
		require.Regexp(t, `--from=build [^\n]*/src/`+name+` [^\n]*/usr/share/doc/easel/`, files)
	}
	require.Contains(t, strings.Join(only(t, list, "LABEL"), " "), "org.opencontainers.image.licenses=Apache-2.0")
}
