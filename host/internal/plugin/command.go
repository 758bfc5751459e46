package plugin

import (
	"bytes"
	"errors"
	"io"

	"github.com/tetratelabs/wazero/sys"

	"github.com/easel-canvas/easel/plugins/contract"
)

// A command is a WASI program, whose export is [contract.CommandExport]. Each call has an instance,
// since a program ends with its instance.

// stdinReader reads the input of a command; other plugins read an empty file.
type stdinReader struct{ g *guest }

func (r stdinReader) Read(p []byte) (int, error) {
	g := r.g
	if !g.command || len(g.input) == 0 {
		return 0, io.EOF
	}
	n := copy(p, g.input)
	g.input = g.input[n:]
	g.hostWork(uint64(n))
	return n, nil
}

// stdoutWriter appends to the output of a command, and drops what other plugins write.
type stdoutWriter struct{ g *guest }

func (w stdoutWriter) Write(p []byte) (int, error) {
	g := w.g
	g.hostWork(uint64(len(p)))
	if g.command {
		if most := g.m.limits.OutputBytes(); len(g.output)+len(p) > most {
			g.stop(tooLarge("output", len(g.output)+len(p), most))
		}
		g.output = append(g.output, p...)
	}
	return len(p), nil
}

// stderrWriter keeps the first bytes of a guest's stderr, and the lines of a command.
type stderrWriter struct{ g *guest }

func (w stderrWriter) Write(p []byte) (int, error) {
	g := w.g
	g.hostWork(uint64(len(p)))
	if room := maxStderr - len(g.stderr); room > 0 {
		g.stderr = append(g.stderr, p[:min(room, len(p))]...)
	}
	if g.command {
		g.lines.write(p, g.logStderr)
	}
	return len(p), nil
}

// logStderr logs a line of a command. Lines over the limit are dropped, however many they are:
// programs write to stderr without knowing of a limit.
func (g *guest) logStderr(line []byte) {
	if len(g.logs) < maxLogs {
		g.log(stderrLevel, line)
	}
}

// stderrLevel is the level of lines of stderr: info.
const stderrLevel = 2

// stderrLines cuts the stderr of a command into lines, and keeps the last one.
type stderrLines struct {
	open   []byte // line without its end
	last   []byte // last line that is not blank, before a stack trace
	blank  bool   // the line before was
	traced bool   // a stack trace of Go has begun
}

// write takes a piece of text and passes each complete line to log.
func (l *stderrLines) write(p []byte, log func(line []byte)) {
	for len(p) > 0 {
		piece, rest, ended := bytes.Cut(p, []byte("\n"))
		l.open = append(l.open, piece[:min(len(piece), maxLogBytes-len(l.open))]...)
		if p = rest; ended {
			l.end(log)
		}
	}
}

// end completes a line.
func (l *stderrLines) end(log func(line []byte)) {
	line := bytes.TrimRight(l.open, "\r \t")
	l.traced = l.traced || l.blank && bytes.HasPrefix(line, []byte("goroutine "))
	if l.blank = len(line) == 0; !l.blank {
		log(line)
		if !l.traced {
			l.last = append(l.last[:0], line...)
		}
	}
	l.open = l.open[:0]
}

// exited returns the error of a command: nil for the status 0, the last line of its stderr for
// another one, and err for any other end.
func (g *guest) exited(err error) error {
	if len(g.lines.open) > 0 {
		g.lines.end(g.logStderr)
	}
	var exit *sys.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if exit.ExitCode() == 0 {
		return nil
	}
	if line := printable(g.lines.last, maxStderr); line != "" {
		return contract.Errorf(contract.Exit, "%s", line)
	}
	return contract.Errorf(contract.Exit, "the command ended with status %d", exit.ExitCode())
}
