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

// Patience is how long a server may take to be ready; much more than it needs
// on a slow machine.
const Patience = 60 * time.Second

// Process is a program in a process and process group of its own.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it is gone

	mu     sync.Mutex
	output bytes.Buffer
	more   chan struct{} // closed and replaced when output has grown
}

// Start runs a command. What it prints is kept, see [Process.Output].
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, done: make(chan struct{}), more: make(chan struct{})}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true // a signal from the keyboard is for the test, which then stops its servers
	cmd.Stdout, cmd.Stderr = p, p
	cmd.WaitDelay = 5 * time.Second // for children that hold its output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // how it ended does not matter: tests kill it
		close(p.done)
	}()
	return p, nil
}

// Write takes what the program prints.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.more)
	p.more = make(chan struct{})
	return p.output.Write(b)
}

// Output is what the program has printed, standard output and error in one.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// Line waits for a printed line with a prefix, and more texts after it if any
// are given, and returns what follows the prefix.
func (p *Process) Line(prefix string, with ...string) (string, error) {
	late := time.After(Patience)
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
		case <-late:
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

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process is gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal to the process; one that is gone is no error.
func (p *Process) Signal(s syscall.Signal) error {
	err := p.cmd.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Freeze stops the process, as if its machine had been cut off; Thaw lets it
// go on.
func (p *Process) Freeze() error { return p.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (p *Process) Thaw() error { return p.Signal(syscall.SIGCONT) }

// Kill ends the process and its group at once, without a word, and waits until
// the process is gone.
func (p *Process) Kill() {
	// It may be gone already.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// Build compiles a main package of this module or of one it requires into dir
// and returns the program.
func Build(dir, pkg string) (program string, err error) {
	program = filepath.Join(dir, filepath.Base(strings.TrimSuffix(pkg, "/v2")))
	// Without symbols linking takes half the time.
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, pkg).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w: %s", pkg, err, out)
	}
	return program, nil
}
