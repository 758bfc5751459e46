package servertest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// NATSPackage is the package from which [Build] builds a NATS server.
const NATSPackage = "github.com/nats-io/nats-server/v2"

// NATS is a nats-server with JetStream that keeps its files and port across restarts.
type NATS struct {
	*Process
	URL  string
	Name string

	program, dir, config string
}

// StartNATS starts a server with its files below dir.
func StartNATS(program, dir string) (*NATS, error) {
	n, err := newNATS(program, dir, "solo", "")
	if err != nil {
		return nil, err
	}
	return n, n.Restart()
}

// StartSyncedNATS is StartNATS with every message synced to disk before it is acknowledged.
func StartSyncedNATS(program, dir string) (*NATS, error) {
	n, err := newNATS(program, dir, "solo", ", sync_interval: always")
	if err != nil {
		return nil, err
	}
	return n, n.Restart()
}

// StartCluster starts a cluster of three servers.
func StartCluster(program, dir string) (servers []*NATS, err error) {
	var ports []int
	var routes []string
	for range 3 {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		ports, routes = append(ports, port), append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	for i := range 3 {
		n, err := newNATS(program, dir, fmt.Sprint("n", i), "")
		if err != nil {
			return servers, err
		}
		n.config += fmt.Sprintf("cluster { name: test, listen: \"127.0.0.1:%d\", routes: [%s] }\n", ports[i],
			strings.Join(routes, ", "))
		if err := n.Restart(); err != nil {
			return servers, err
		}
		servers = append(servers, n)
	}
	return servers, nil
}

func newNATS(program, dir, name, more string) (*NATS, error) {
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	n := &NATS{
		program: program, dir: filepath.Join(dir, name), Name: name,
		URL: fmt.Sprintf("nats://127.0.0.1:%d", port),
	}
	n.config = fmt.Sprintf("server_name: %s\nlisten: \"127.0.0.1:%d\"\njetstream { store_dir: %q%s }\n", name, port,
		n.dir, more)
	return n, os.MkdirAll(n.dir, 0o700)
}

// Restart starts the server again with its existing files. A running server must be killed first.
func (n *NATS) Restart() error {
	file := filepath.Join(n.dir, "nats.conf")
	if err := os.WriteFile(file, []byte(n.config), 0o600); err != nil {
		return err
	}
	p, err := Start(exec.Command(n.program, "-c", file))
	if err != nil {
		return err
	}
	n.Process = p
	return n.ready()
}

// ready waits until the server sends its INFO message.
func (n *NATS) ready() error {
	for deadline := time.Now().Add(Patience); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(n.URL, "nats://"))
		if err == nil {
			_, err = bufio.NewReader(conn).ReadString('\n')
			_ = conn.Close() // only the INFO message matters
		}
		if err == nil {
			return nil
		}
		select {
		case <-n.Done():
			return fmt.Errorf("nats-server ended: %s", n.Output())
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("nats-server is not ready: %w: %s", err, n.Output())
		}
	}
}
