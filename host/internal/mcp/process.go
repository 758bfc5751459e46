package mcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// defaultMemory bounds the memory of a server with its child processes.
	defaultMemory = 1 << 30
	// maxProcesses bounds the number of processes of a server.
	maxProcesses = 64
	// exitGrace is the time that a server has to exit after its input was closed.
	exitGrace = 2 * time.Second
	// watchInterval is the pause between two measurements of a server's memory.
	watchInterval = time.Second
	// maxErrorText bounds the stored start and end of a server's standard error.
	maxErrorText = 512
)

// markVariable is an environment variable by which the processes of one server are found, also
// those that left its process group.
const markVariable = "MCP_CLIENT_PROCESS"

// process is a server that runs as a child process. It communicates over in and out; all its child
// processes are killed when it exits or is ended.
type process struct {
	in  io.WriteCloser
	out io.ReadCloser

	cmd    *exec.Cmd
	mark   string
	stderr ends
	exited chan struct{} // closed when the process and its children are gone
	once   sync.Once

	mu  sync.Mutex
	why error // the first reason for its end
}

// startProcess starts the command of a server, in a new process group. Its environment has only
// PATH, HOME and the configured variables.
func startProcess(s *Server, memory int64) (*process, error) {
	p := &process{mark: rand.Text(), exited: make(chan struct{})}
	p.cmd = exec.Command(s.Command, s.Args...)
	p.cmd.Env = []string{markVariable + "=" + p.mark}
	for _, name := range []string{"PATH", "HOME"} {
		if value, ok := os.LookupEnv(name); ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+value)
		}
	}
	for name, value := range s.Env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stderr, p.cmd.WaitDelay = &p.stderr, exitGrace
	isolate(p.cmd)
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCommand, err)
	}
	p.cmd.Stdout = theirs
	in, err := p.cmd.StdinPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err = errors.Join(err, theirs.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrCommand, err), out.Close())
	}
	pace := &pace{from: out, process: p}
	p.in, p.out = &input{in, p, pace}, pace
	limitMemory(p.cmd.Process.Pid, memory)
	go p.wait(out)
	go p.watch(memory)
	return p, nil
}

// wait reaps the process and kills its remaining children. Closing the output ends a reader that
// waits for a process that could not be killed.
func (p *process) wait(out io.Closer) {
	err := p.cmd.Wait()
	if err == nil {
		err = errors.New("it exited")
	}
	p.fail(err)
	killAll(p.cmd.Process.Pid, p.mark)
	time.AfterFunc(exitGrace, func() { _ = out.Close() }) // a second close is an error
	close(p.exited)
}

// watch kills a server that exceeds its limits together with its child processes.
func (p *process) watch(memory int64) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-p.exited:
			return
		case <-tick.C:
		}
		switch used, count := usage(p.cmd.Process.Pid); {
		case used > memory:
			p.kill(fmt.Errorf("it used more than %d MB of memory", memory>>20))
		case count > maxProcesses:
			p.kill(fmt.Errorf("it started more than %d processes", maxProcesses))
		}
	}
}

// fail stores the reason for the end of the process.
func (p *process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		p.why = err
	}
}

// kill ends the process and its children at once.
func (p *process) kill(why error) {
	p.fail(why)
	killAll(p.cmd.Process.Pid, p.mark)
}

// end closes the input, at which a server exits, and kills it if it does not.
func (p *process) end() error {
	if p == nil {
		return nil
	}
	p.once.Do(func() {
		_ = p.in.(*input).WriteCloser.Close() // fails if the server is gone
		select {
		case <-p.exited:
		case <-time.After(exitGrace):
			p.kill(errEnded)
			<-p.exited
		}
	})
	return p.reason()
}

// errEnded means that this side ended the process.
var errEnded = errors.New("ended")

// reason returns why the process ended, with the end of its standard error; nil while it runs or if
// this side ended it.
func (p *process) reason() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	why := p.why
	p.mu.Unlock()
	if why == nil || errors.Is(why, errEnded) {
		return nil
	}
	if text := p.stderr.text(); text != "" {
		return fmt.Errorf("process %q: %w: %s", p.cmd.Path, why, text)
	}
	return fmt.Errorf("process %q: %w", p.cmd.Path, why)
}

// input is the standard input of a process; closing it ends the process.
type input struct {
	io.WriteCloser
	process *process
	pace    *pace
}

func (i *input) Write(b []byte) (int, error) {
	i.pace.sent.Store(0)
	return i.WriteCloser.Write(b)
}

func (i *input) Close() error {
	_ = i.process.end() // the reason is part of the error of calls
	return nil
}

// pace limits the output of a process between two requests.
type pace struct {
	from    io.ReadCloser
	process *process
	sent    atomic.Int64
}

func (p *pace) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	if p.sent.Add(int64(n)) > maxStream {
		err = fmt.Errorf("%w: more than %d MB", ErrTooLarge, maxStream>>20)
		p.process.kill(err)
		return 0, err
	}
	return n, err
}

func (p *pace) Close() error { return nil } // the process closes it

// ends keeps the first and the last bytes written to it.
type ends struct {
	mu          sync.Mutex
	first, last []byte
	cut         bool
}

func (e *ends) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(b), maxErrorText-len(e.first))
	e.first = append(e.first, b[:n]...)
	rest := b[n:]
	e.last = append(e.last, rest[max(0, len(rest)-maxErrorText):]...)
	if drop := len(e.last) - maxErrorText; drop > 0 {
		e.last, e.cut = append([]byte{}, e.last[drop:]...), true
	}
	return len(b), nil
}

func (e *ends) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := string(e.first)
	if e.cut {
		text += " ... "
	}
	return strings.TrimSpace(strings.ToValidUTF8(text+string(e.last), "?"))
}
