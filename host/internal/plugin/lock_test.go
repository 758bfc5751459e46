package plugin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// changerFolder, in the environment, makes a process of this test one that changes the folder.
const changerFolder = "EASEL_TEST_CHANGER"

// changes is the number of plugins that each process installs.
const changes = 8

// TestTwoProcessesChangeOneFolder has both open the folder before either changes it: what one
// installs, switches off, removes and trusts is there after the other has done the same.
func TestTwoProcessesChangeOneFolder(t *testing.T) {
	if dir := os.Getenv(changerFolder); dir != "" {
		changer(t, dir, os.Getenv(changerFolder+"_NAME"))
		return
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	dir, self := t.TempDir(), executable(t)
	var starts []io.Closer
	var waits []func() error
	for _, name := range []string{"a", "b"} {
		cmd := exec.CommandContext(ctx, self, "-test.run=^TestTwoProcessesChangeOneFolder$", "-test.v")
		cmd.Env = append(os.Environ(), changerFolder+"="+dir, changerFolder+"_NAME="+name)
		start, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		said := bufio.NewReader(out)
		for line := ""; !strings.Contains(line, "open"); {
			line, err = said.ReadString('\n')
			require.NoError(t, err, "%s", line)
		}
		starts = append(starts, start)
		waits = append(waits, func() error {
			rest, err := io.ReadAll(said)
			if ended := cmd.Wait(); ended != nil {
				return fmt.Errorf("%w: %s", ended, rest)
			}
			return err
		})
	}
	for _, start := range starts {
		require.NoError(t, start.Close())
	}
	for _, wait := range waits {
		require.NoError(t, wait())
	}
	c, err := OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	var got, want []string
	for _, e := range c.List() {
		got = append(got, fmt.Sprint(e.Name, " ", e.Enabled, " ", e.Problem))
	}
	for _, name := range []string{"a", "b"} {
		for i := 1; i < changes; i++ {
			want = append(want, fmt.Sprintf("%s-%d %v ", name, i, i != 1))
		}
	}
	require.Equal(t, want, got)
	keys, err := ReadTrust(dir)
	require.NoError(t, err)
	require.Len(t, keys, 2*changes)
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// changer opens the folder, waits for the end of its input, and changes the folder.
func changer(t *testing.T, dir, name string) {
	ctx := t.Context()
	c, err := OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	fmt.Println("open")
	_, err = io.ReadAll(os.Stdin)
	require.NoError(t, err)
	for i := range changes {
		wasm := pack(t, wattest.Must(`(module (func (export "easel_invoke") (result i32) i32.const 0))`), map[string]any{"name": fmt.Sprintf("%s-%d", name, i)})
		_, err := c.Install(ctx, wasm, Local)
		require.NoError(t, err)
		_, err = ChangeTrust(ctx, dir, func(keys map[string][]string) { keys[fmt.Sprintf("%s-%d", name, i)] = []string{"key"} })
		require.NoError(t, err)
	}
	require.NoError(t, c.Remove(ctx, name+"-0", true))
	_, err = c.Disable(ctx, name+"-1")
	require.NoError(t, err)
}

// TestAChangeWaitsForAnother locks the folder and makes a second change.
func TestAChangeWaitsForAnother(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	c, err := OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	unlock, err := lock(ctx, dir)
	require.NoError(t, err)
	wasm := asking(t, "1.0.0")
	waited := false
	for wait := 5 * lockPoll; !waited; wait *= 2 { // a busy machine may be late at the lock
		require.Less(t, wait, time.Minute)
		hurried, stop := context.WithTimeout(ctx, wait)
		_, err = c.Install(hurried, wasm, Local)
		stop()
		require.Error(t, err)
		waited = strings.Contains(err.Error(), "another program changes "+dir)
	}
	require.ErrorIs(t, err, context.DeadlineExceeded)
	installed := make(chan error)
	go func() {
		_, err := c.Install(ctx, wasm, Local)
		installed <- err
	}()
	select {
	case err := <-installed:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(5 * lockPoll):
	}
	unlock()
	require.NoError(t, <-installed)
	_, err = c.Get("sample")
	require.NoError(t, err)
}
