package servertest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const portsVariable = "EASEL_SERVERTEST_PORTS"

func TestMain(m *testing.M) {
	if os.Getenv(portsVariable) == "" {
		os.Exit(m.Run())
	}
	for range ports {
		port, err := FreePort()
		if err != nil {
			panic(err)
		}
		fmt.Println(port)
	}
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // keeps the ports reserved until the parent closes stdin
}

const ports = 50

// Concurrent processes get different ports, and none of those that the system assigns for port 0.
func TestPortsAreExclusive(t *testing.T) {
	var mu sync.Mutex
	owner := map[int]string{}
	claim := func(name string, port int) {
		mu.Lock()
		defer mu.Unlock()
		if before := owner[port]; before != "" {
			t.Errorf("port %d of %s is already reserved by %s", port, name, before)
		}
		owner[port] = name
	}
	var readers sync.WaitGroup
	for n := range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), portsVariable+"=1")
		end, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			require.NoError(t, end.Close())
			require.NoError(t, cmd.Wait())
		})
		readers.Go(func() {
			for range ports {
				var port int
				if _, err := fmt.Fscanln(out, &port); err != nil {
					t.Error(err)
				}
				claim(fmt.Sprint("process ", n), port)
			}
		})
	}
	for range ports {
		port, err := FreePort()
		require.NoError(t, err)
		claim("this process", port)
	}
	readers.Wait()
	for range 1000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.Empty(t, owner[l.Addr().(*net.TCPAddr).Port])
		require.NoError(t, l.Close())
	}
}
