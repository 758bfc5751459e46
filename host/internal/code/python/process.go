package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code/worker"
)

// process is a worker: it starts an interpreter, and runs one script when it receives one.
type process struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  worker.Buffer
	limits  Limits
	kill    context.CancelFunc
	replies chan reply    // the empty one, and that of the script
	gone    chan struct{} // closed when the process has ended, with err set
	err     error
}

// start starts a worker, which does not depend on the context of a script.
func start(command []string, o order) (*process, error) {
	if len(command) == 0 {
		return nil, fmt.Errorf("python worker: %w: this program does not know its own path", engine.ErrNoPort)
	}
	ctx, kill := context.WithCancel(context.Background())
	p := &process{
		cmd: worker.Command(ctx, command), limits: o.Limits, kill: kill, stderr: worker.Buffer{Remaining: 64 << 10},
		replies: make(chan reply, 2), gone: make(chan struct{}),
	}
	p.cmd.Stderr = &p.stderr
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	if err != nil {
		kill()
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		kill()
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		kill()
		return nil, fmt.Errorf("python worker: %w", err)
	}
	go p.read(io.LimitReader(stdout, responseLimit(o.Limits)))
	if err := json.NewEncoder(p.stdin).Encode(o); err != nil {
		p.end()
		return nil, fmt.Errorf("python worker: %w", err)
	}
	return p, nil
}

// read passes the replies of the process on and waits for its end.
func (p *process) read(stdout io.Reader) {
	defer close(p.gone)
	lines := json.NewDecoder(stdout)
	for range cap(p.replies) {
		var r reply
		if err := lines.Decode(&r); err != nil {
			if !errors.Is(err, io.EOF) {
				p.kill()
			}
			break
		}
		p.replies <- r
	}
	p.err = p.cmd.Wait()
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// end kills the process and waits for its end.
func (p *process) end() {
	p.kill()
	<-p.gone
}

// ready waits until the interpreter waits for a script.
func (p *process) ready(ctx context.Context) error {
	limited, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf(
		"python worker: the interpreter did not start within %s", startLimit))
	defer cancel()
	_, err := p.reply(limited)
	return err
}

// run runs a script until it ends or its time is over.
func (p *process) run(ctx context.Context, c call) (reply, error) {
	limited, cancel := context.WithTimeoutCause(ctx, p.limits.Time, fmt.Errorf(
		"script: %w: it ran longer than %s", engine.ErrLimit, p.limits.Time))
	defer cancel()
	sent := make(chan error, 1)
	go func() { sent <- json.NewEncoder(p.stdin).Encode(c) }()
	r, err := p.reply(limited)
	if err == nil {
		return r, nil
	}
	p.end()
	<-sent // the pipe of a killed process is closed
	return reply{}, err
}

// reply waits for a reply. When ctx is done first, its cause is the error.
func (p *process) reply(ctx context.Context) (reply, error) {
	select {
	case r := <-p.replies:
		return r, nil
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	case <-p.gone:
	}
	select {
	case r := <-p.replies: // sent before the end
		return r, nil
	default:
		return reply{}, worker.ExitError(p.cmd, p.err, p.stderr.String(), p.limits.Memory)
	}
}
