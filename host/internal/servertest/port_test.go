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
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // the ports are held until whoever started it has enough
}

const ports = 50

// Processes that ask at the same time get different ports, and none that the system gives to
// somebody else: the other way of asking, port 0, meets none of them.
func TestPortsAreOnesOwn(t *testing.T) {
	var mu sync.Mutex
	owner := map[int]string{}
	take := func(who string, port int) {
		mu.Lock()
		defer mu.Unlock()
		if before := owner[port]; before != "" {
			t.Errorf("port %d of %s is that of %s already", port, who, before)
		}
		owner[port] = who
	}
	var asking sync.WaitGroup
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
		asking.Go(func() {
			for range ports {
				var port int
				if _, err := fmt.Fscanln(out, &port); err != nil {
					t.Error(err)
				}
				take(fmt.Sprint("process ", n), port)
			}
		})
	}
	for range ports {
		port, err := FreePort()
		require.NoError(t, err)
		take("this process", port)
	}
	asking.Wait()
	for range 1000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.Empty(t, owner[l.Addr().(*net.TCPAddr).Port])
		require.NoError(t, l.Close())
	}
}
