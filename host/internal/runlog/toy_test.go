package runlog

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// The failure tests start this test program again as hosts and servers, and send them signals. The
// configuration of a child is in one variable.

type childConfig struct {
	Role   string // host, embedded, nats
	Config hostConfig
	Claim  string // a run that the host claims itself
	Steps  int
	Step   time.Duration
	Freeze int    // the first owner stops its own process before this step
	After  uint64 // embedded: follow after this record

	Port int    // nats
	Dir  string // nats
}

// hostConfig is the part of Config that the tests choose.
type hostConfig struct {
	Dir      string
	URLs     []string
	Lease    time.Duration
	Attempts int
}

func (h hostConfig) config() setup {
	return setup{
		Dir: h.Dir, URLs: h.URLs, Lease: h.Lease, Attempts: h.Attempts,
		Dead: func(ctx context.Context, e *Lease) error {
			_, err := e.Append(ctx, rec("ev", "failed"))
			return err
		},
	}
}

const childVariable = "EASEL_RUNNER_CHILD"

func TestMain(m *testing.M) {
	text := os.Getenv(childVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var c childConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, c.Role, err)
		os.Exit(1)
	}
}

func (c childConfig) run() error {
	switch c.Role {
	case "nats":
		return c.runServer()
	case "host", "embedded":
		return c.runHost()
	}
	return fmt.Errorf("unknown role")
}

// runHost works on runs and, when embedded, prints the records of its run.
func (c childConfig) runHost() error {
	ctx := context.Background()
	l, err := openLog(ctx, c.Config.config())
	if err != nil {
		return err
	}
	fmt.Println("ready", l.Host())
	go func() { _ = l.Work(ctx, c.toy) }()
	if c.Claim != "" {
		e, err := l.Claim(ctx, Run{ID: c.Claim})
		if err != nil {
			return err
		}
		go func() {
			if err := c.toy(e.Context(), e); err != nil {
				fmt.Println("lost", err)
			}
		}()
	}
	if c.Role == "embedded" {
		return l.Follow(ctx, "r", Pos{Seq: c.After}, func(r Record) bool {
			fmt.Printf("record %d %s\n", r.Seq, r.Data)
			return true
		})
	}
	select {}
}

// toy executes its steps one by one; each is one record. A step counts as done when its record is
// stored, at which the next host continues.
func (c childConfig) toy(ctx context.Context, e *Lease) error {
	check, err := e.Checkpoint(ctx)
	if err != nil {
		return err
	}
	done := len(check.Records)
	if check.Snapshot != nil {
		n, err := strconv.Atoi(string(check.Snapshot))
		if err != nil {
			return err
		}
		done += n
	}
	if e.Run.ID == "poison" {
		fmt.Println("poisoned")
		select {} // until it is killed
	}
	for ; done < c.Steps; done++ {
		if done == c.Freeze && c.Freeze > 0 && e.Attempt == 1 {
			if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
				return err
			}
		}
		if !broker.Sleep(ctx, c.Step) {
			return context.Cause(ctx)
		}
		pos, err := e.Append(ctx, rec("ev", fmt.Sprint("step ", done)))
		if err != nil {
			return err
		}
		if done%5 == 4 {
			if err := e.Snapshot(ctx, pos, []byte(strconv.Itoa(done+1))); err != nil {
				return err
			}
		}
	}
	return e.End(ctx)
}

// requireSteps checks that each step exists once, in order, numbered without gaps.
func requireSteps(t testing.TB, records []Record, steps int) {
	t.Helper()
	for i, r := range records {
		require.EqualValues(t, i+1, r.Seq)
		require.Equal(t, fmt.Sprint("step ", i), string(r.Data))
	}
	require.Len(t, records, steps)
}

func (c childConfig) runServer() error {
	opts := &server.Options{
		Host: "127.0.0.1", Port: c.Port, JetStream: true, StoreDir: c.Dir, NoLog: true, NoSigs: true,
		MaxPayload: 1 << 20,
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	srv.Start()
	if !srv.ReadyForConnections(patience) {
		return fmt.Errorf("not ready")
	}
	fmt.Println("ready")
	srv.WaitForShutdown()
	return nil
}

// child is a process started by a test.
type child struct {
	t     testing.TB
	cmd   *exec.Cmd
	lines chan string // its output; closed when it has exited
}

// start runs a child and waits until it is ready. It is killed with the test.
func start(t testing.TB, c childConfig) *child {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ch := &child{t, cmd, make(chan string, 10_000)}
	go func() {
		defer close(ch.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			ch.lines <- in.Text()
		}
	}()
	t.Cleanup(ch.kill)
	ch.line("ready")
	return ch
}

// line waits for a line that starts with a word and returns the rest.
func (c *child) line(word string) string {
	c.t.Helper()
	late := time.After(patience)
	for {
		select {
		case line, ok := <-c.lines:
			require.True(c.t, ok, "process ended before it said %q", word)
			if rest, ok := strings.CutPrefix(line, word); ok {
				return strings.TrimSpace(rest)
			}
		case <-late:
			require.FailNow(c.t, "process did not say "+word)
		}
	}
}

func (c *child) signal(s syscall.Signal) { require.NoError(c.t, c.cmd.Process.Signal(s)) }

func (c *child) kill() {
	// It may have exited already, as intended.
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// natsChild returns a NATS server in a separate process.
func natsChild(t testing.TB, dir string, port int) *child {
	return start(t, childConfig{Role: "nats", Dir: dir, Port: port})
}

func address(port int) string { return fmt.Sprintf("nats://127.0.0.1:%d", port) }

func freePort(t testing.TB) int {
	port, err := servertest.FreePort()
	require.NoError(t, err)
	return port
}

// timeline follows a run and measures the longest gap between records.
type timeline struct {
	records []Record
	gap     time.Duration
	done    chan error
	at      chan struct{}
}

// watch follows a run in the background; at is rung after nth records.
func watch(t testing.TB, l *Log, run string, nth int) *timeline {
	w := &timeline{done: make(chan error, 1), at: make(chan struct{})}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	go func() {
		defer stop()
		last := time.Now()
		w.done <- l.Follow(ctx, run, Pos{}, func(r Record) bool {
			if len(w.records) > 0 {
				w.gap = max(w.gap, time.Since(last))
			}
			last = time.Now()
			w.records = append(w.records, r)
			if len(w.records) == nth {
				close(w.at)
			}
			return true
		})
	}()
	return w
}
