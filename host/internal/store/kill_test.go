package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const killVariable = "EASEL_STORE_CHILD"

// writeForever is the child process of TestKilledWriterLosesNothing: it prints the id of each
// acknowledged canvas.
func writeForever(dir string) error {
	s, err := Open(context.Background(), Config{Dir: dir})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				c, err := s.Canvases.Create(context.Background(), Canvas{Tenant: "t", DSL: make([]byte, 2000)}, "v")
				if err != nil {
					return
				}
				fmt.Println(c.ID)
			}
		})
	}
	wg.Wait()
	return nil
}

func TestKilledWriterLosesNothing(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killVariable+"="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		var ids []string
		for in := bufio.NewReader(out); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				break
			}
			if ids = append(ids, strings.TrimSpace(line)); len(ids) == 300 {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait())
		s := openTest(t, Config{Dir: dir})
		for _, id := range ids {
			_, err := s.Canvases.Get(t.Context(), "t", id)
			require.NoError(t, err)
			v, err := s.Canvases.Versions(t.Context(), "t", id)
			require.NoError(t, err)
			require.Len(t, v, 1)
		}
	}
}
