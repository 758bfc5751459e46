package python

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	wasys "github.com/tetratelabs/wazero/sys"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code/worker"
)

// guest is the program that the interpreter runs. It waits for a call, so an interpreter can be
// started before there is one.
//
//go:embed guest.py
var guest string

// order is the first line that a worker reads. The second one, sent when there is a script, is a
// call.
type order struct {
	Path, Library, CacheDir string
	Limits                  Limits
}

// call is the second line that a worker reads, and the input of the guest.
type call struct {
	Script    string       `json:"script"`
	Arguments engine.Value `json:"arguments"`
	Output    int          `json:"output"`
	Files     int64        `json:"files"`
}

// reply is a line that a worker sends: first an empty one when the interpreter is ready, then that
// of the call.
type reply struct {
	Answer json.RawMessage `json:"answer,omitempty"` // of the guest; none if it ended before
	Stdout string          `json:"stdout,omitempty"`
	Stderr string          `json:"stderr,omitempty"`
	Ended  string          `json:"ended,omitempty"` // the reason why there is no answer
}

// Work runs one script in a worker process. It starts the interpreter of the first line of in,
// reports that it is ready, and runs the script of the second line. Without a second line it ends.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := json.NewDecoder(in)
	var o order
	if err := lines.Decode(&o); err != nil {
		return fmt.Errorf("python worker: order: %w", err)
	}
	m := &machine{limits: o.Limits, waiting: make(chan struct{}), done: make(chan struct{})}
	if err := m.start(ctx, o); err != nil {
		return fmt.Errorf("python worker: %w", err)
	}
	select {
	case <-m.waiting:
	case <-m.done:
		return fmt.Errorf("python worker: the interpreter ended before the script: %s: %s",
			ended(m.err), strings.TrimSpace(m.stderr.text()))
	}
	// From here on the guest is the only work; a collection could not stop its loops.
	debug.FreeOSMemory()
	debug.SetGCPercent(-1)
	send := json.NewEncoder(out)
	if err := send.Encode(reply{}); err != nil {
		return err
	}
	var c call
	if err := lines.Decode(&c); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return fmt.Errorf("python worker: call: %w", err)
	}
	if err := worker.LimitTime(o.Limits.Time); err != nil {
		return fmt.Errorf("python worker: limit its time: %w", err)
	}
	if err := json.NewEncoder(m.stdin).Encode(c); err != nil {
		return fmt.Errorf("python worker: call: %w", err)
	}
	if err := m.stdin.Close(); err != nil {
		return err
	}
	<-m.done
	return send.Encode(m.reply())
}

// machine is an interpreter that runs one script.
type machine struct {
	limits         Limits
	files          *files
	stdin          *io.PipeWriter
	stdout, stderr printed
	waiting        chan struct{} // closed when the guest reads its call
	done           chan struct{} // closed when the guest has ended, with err set
	err            error
}

// start compiles the interpreter, or loads it from the cache, and runs the guest.
func (m *machine) start(ctx context.Context, o order) error {
	rt, err := load(ctx, o.Path, o.CacheDir, o.Limits.Memory)
	if err != nil {
		return err
	}
	runtime.GC() // the module's bytes
	if err := worker.LimitMemory(o.Limits.Memory + 2*worker.Arena); err != nil {
		return fmt.Errorf("limit its memory: %w", err)
	}
	m.stdout.remaining, m.stderr.remaining = o.Limits.Output, o.Limits.Output
	m.files = newFiles(2*o.Limits.Files, "artifacts", "tmp")
	m.files.answerRoom = responseLimit(o.Limits)
	var stdin *io.PipeReader
	stdin, m.stdin = io.Pipe()
	config, err := rt.config(m.files, o.Library)
	if err != nil {
		return err
	}
	config = config.WithStdin(&signalled{Reader: stdin, first: sync.OnceFunc(func() { close(m.waiting) })}).
		WithStdout(&m.stdout).WithStderr(&m.stderr).WithRandSource(rand.Reader).
		WithSysWalltime().WithSysNanotime().WithSysNanosleep()
	go func() {
		m.err = rt.run(ctx, config, arguments(o.Library))
		close(m.done)
	}()
	return nil
}

// arguments returns the command line of the interpreter. Without a library it ignores its
// environment.
func arguments(library string) []string {
	flags := "-ISB"
	if library != "" {
		flags = "-PSB"
	}
	return []string{"python", flags, "-c", guest + "\nserve()\n"}
}

// reply describes how the guest ended.
func (m *machine) reply() reply {
	r := reply{Stdout: m.stdout.text(), Stderr: m.stderr.text()}
	if m.files.answer != nil {
		if text := m.files.answer.data.bytes(); json.Valid(text) {
			r.Answer = text
			return r
		}
	}
	r.Ended = ended(m.err)
	return r
}

// ended describes the end of an interpreter without an answer.
func ended(err error) string {
	var exit *wasys.ExitError
	if err == nil || errors.As(err, &exit) {
		code := uint32(0)
		if exit != nil {
			code = exit.ExitCode()
		}
		return fmt.Sprintf("the script ended the interpreter with code %d before main returned", code)
	}
	text, _, _ := strings.Cut(err.Error(), "\nwasm stack trace")
	return text
}

// signalled calls first before the first read.
type signalled struct {
	io.Reader
	first func()
}

func (s *signalled) Read(p []byte) (int, error) {
	s.first()
	return s.Reader.Read(p)
}

// cutNote ends output that was cut.
const cutNote = "\n[output cut]\n"

// printed collects output up to a limit.
type printed struct {
	bytes.Buffer
	remaining int
	cut       bool
}

// Write stores the bytes that fit. It never fails.
func (p *printed) Write(b []byte) (int, error) {
	n := min(len(b), p.remaining)
	p.remaining -= n
	p.cut = p.cut || n < len(b)
	p.Buffer.Write(b[:n])
	return len(b), nil
}

func (p *printed) text() string {
	s := strings.ToValidUTF8(p.String(), "\uFFFD")
	if p.cut {
		s += cutNote
	}
	return s
}

// quiet drops log lines: the host reports a damaged cache.
var quiet = slog.New(slog.DiscardHandler)
