package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/backup"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// Hosts that share a NATS or a PostgreSQL with the target of a restore are named, and nothing is
// changed under them.
func TestRestoreWhileHostsAreAtWork(t *testing.T) {
	dir := t.TempDir()
	program, err := servertest.Build(dir, servertest.NATSPackage)
	require.NoError(t, err)
	nats, err := servertest.StartNATS(program, dir)
	require.NoError(t, err)
	t.Cleanup(nats.Kill)
	machine, err := os.Hostname()
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		place []string // of the host
		from  func(place []string) []string
	}{
		{"both shared", append(database(t, "postgres"), "--nats", nats.URL), nil},
		{"NATS shared", append(database(t, "sqlite"), "--nats", nats.URL), nil},
		// From another machine, which cannot read the lock.
		{
			"PostgreSQL shared", database(t, "postgres"),
			func(place []string) []string { return append([]string{"--data", t.TempDir()}, place[2:]...) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := []string{"EASEL_API_KEY=" + operatorKey}
			s := serve(t, env, c.place...)
			kept := member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"kept","dsl":`+echoing+`}`), "id")
			file := filepath.Join(t.TempDir(), "kept.zip")
			out, err := commandIn(t, append([]string{"backup", file}, c.place...)...)
			require.NoError(t, err, out)
			lost := member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"lost","dsl":`+echoing+`}`), "id")
			there := func(canvas string) bool {
				status, _ := s.get("/api/v2/canvases/"+canvas, operatorKey)
				return status == 200
			}

			again := func(more ...string) (string, error) {
				target := c.place
				if c.from != nil {
					target = c.from(c.place)
				}
				return commandIn(t, append(append([]string{"restore", file, "--replace"}, target...), more...)...)
			}
			_, err = again()
			require.ErrorContains(t, err, "hosts are at work there: "+machine+"/")
			require.True(t, there(kept) && there(lost))

			if c.from != nil { // its own data directory would be taken from under it
				out, err = again("--force")
				require.NoError(t, err, out)
				require.True(t, there(kept))
				require.False(t, there(lost))
			}
			require.NoError(t, s.stop())
			out, err = again()
			for late := time.Now().Add(time.Minute); errors.Is(err, backup.ErrAtWork) && time.Now().Before(late); {
				out, err = again() // a busy PostgreSQL ends connections late
			}
			require.NoError(t, err, out)
		})
	}
}
