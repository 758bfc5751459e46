package servertest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Patience bounds waiting for a server to be ready. It is much longer than a slow machine needs.
const Patience = 3 * time.Minute

// Process is a program in its own process and process group.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has exited

	mu     sync.Mutex
	output bytes.Buffer
	more   chan struct{} // closed and replaced when output has grown
}

// Start starts a command and collects its output, see [Process.Output].
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, done: make(chan struct{}), more: make(chan struct{})}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true // terminal signals reach only the test, which stops its servers
	cmd.Stdout, cmd.Stderr = p, p
	cmd.WaitDelay = 5 * time.Second // for children that keep the output open
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // tests kill it: the exit status does not matter
		close(p.done)
	}()
	return p, nil
}

// Write appends to the output.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.more)
	p.more = make(chan struct{})
	return p.output.Write(b)
}

// Output returns the combined standard output and error so far.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// Line waits for an output line that starts with prefix and contains all strings of with after it.
// It returns the line without the prefix.
func (p *Process) Line(prefix string, with ...string) (string, error) {
	timeout := time.After(Patience)
	for {
		p.mu.Lock()
		text, more := p.output.String(), p.more
		p.mu.Unlock()
		for line := range strings.Lines(text) {
			rest, ok := strings.CutPrefix(line, prefix)
			if ok && strings.HasSuffix(rest, "\n") && containsAll(rest, with) {
				return strings.TrimSpace(rest), nil
			}
		}
		select {
		case <-more:
		case <-p.done:
			return "", fmt.Errorf("it ended and did not print %q: %s", prefix, text)
		case <-timeout:
			return "", fmt.Errorf("it did not print %q: %s", prefix, text)
		}
	}
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has exited.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal to the process. A process that has exited is not an error.
func (p *Process) Signal(s syscall.Signal) error {
	err := p.cmd.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Freeze stops the process, as if its machine were disconnected; Thaw continues it.
func (p *Process) Freeze() error { return p.Signal(syscall.SIGSTOP) }

// Thaw continues a frozen process.
func (p *Process) Thaw() error { return p.Signal(syscall.SIGCONT) }

// Kill kills the process and its group and waits until the process has exited.
func (p *Process) Kill() {
	// The process may have exited already.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// Build compiles a main package of this module or of a required one into dir and returns the path
// of the program.
func Build(dir, pkg string) (program string, err error) {
	program = filepath.Join(dir, filepath.Base(strings.TrimSuffix(pkg, "/v2")))
	// The build cache keeps programs linked by go run, unlike those of go build: all tests of a
	// checkout, those of the page included, share one link, which takes 5 s of processor time.
	out, err := exec.Command("go", "run", "-exec", "cp", pkg, program).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w: %s", pkg, err, out)
	}
	return program, nil
}
