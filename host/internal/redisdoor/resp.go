package redisdoor

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// This file reads commands and writes replies of the Redis protocol (RESP 2). A command is an array
// of byte strings or an inline line of words. Every length is checked before memory is allocated
// for it, which the available libraries do not do: see docs/decisions/redis-protocol.md.

const (
	mostArgs = 16
	maxLine  = 4 << 10 // bytes of a length line or an inline command
)

// readCommand reads one command of at most size bytes. An empty line or array has no arguments and
// is ignored by the caller.
func readCommand(r *bufio.Reader, size int) ([][]byte, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, err
	}
	if len(line) == 0 || line[0] != '*' {
		words := bytes.Fields(line)
		if len(words) > mostArgs {
			return nil, fmt.Errorf("%w: more than %d words", errProtocol, mostArgs)
		}
		return cloneAll(words), nil
	}
	n, err := length(line[1:], mostArgs)
	if err != nil {
		return nil, err
	}
	args := make([][]byte, 0, n)
	for range n {
		arg, err := readBulk(r, size)
		if err != nil {
			return nil, err
		}
		size -= len(arg)
		args = append(args, arg)
	}
	return args, nil
}

// cloneAll copies words out of the buffer of the reader.
func cloneAll(words [][]byte) [][]byte {
	for i, w := range words {
		words[i] = bytes.Clone(w)
	}
	return words
}

func readBulk(r *bufio.Reader, most int) ([]byte, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, err
	}
	if len(line) == 0 || line[0] != '$' {
		return nil, fmt.Errorf("%w: expected '$'", errProtocol)
	}
	n, err := length(line[1:], most)
	if err != nil {
		return nil, err
	}
	data := make([]byte, n+2)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	if data[n] != '\r' || data[n+1] != '\n' {
		return nil, fmt.Errorf("%w: bulk string is longer than its length", errProtocol)
	}
	return data[:n:n], nil
}

// readLine reads one line without its line ending. The bytes are valid until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return nil, fmt.Errorf("%w: line is too long", errProtocol)
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}), nil
}

func length(text []byte, most int) (int, error) {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%w: length %.20q is not between 0 and %d", errProtocol, text, most)
	}
	return n, nil
}

// reply writes replies in RESP 2.
type reply struct{ *bufio.Writer }

func (w reply) simple(text string) { fmt.Fprintf(w, "+%s\r\n", text) }
func (w reply) number(n int64)     { fmt.Fprintf(w, ":%d\r\n", n) }
func (w reply) null()              { fmt.Fprint(w, "$-1\r\n") }
func (w reply) array(n int)        { fmt.Fprintf(w, "*%d\r\n", n) }

func (w reply) bulk(data []byte) {
	fmt.Fprintf(w, "$%d\r\n", len(data))
	// Flush returns the first error of the writer.
	_, _ = w.Write(data)
	fmt.Fprint(w, "\r\n")
}

// fail replies with an error. Control characters become spaces, because the reply is one line.
func (w reply) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	clean := bytes.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, []byte(text))
	fmt.Fprintf(w, "-%s\r\n", clean)
}
