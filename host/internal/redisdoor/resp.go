package redisdoor

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// Redis's protocol, as far as clients use it towards a server: a command is an
// array of byte strings, or a line of words typed by hand. Every length is
// checked before anything is read into memory.

const (
	mostArgs = 16
	mostLine = 4 << 10 // bytes of a line: a length, or a command typed by hand
)

// readCommand reads one command of at most size bytes. An empty one is a line
// without words and is to be ignored.
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

// cloneAll copies words out of the reader's buffer.
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
		return nil, fmt.Errorf("%w: text is longer than said", errProtocol)
	}
	return data[:n:n], nil
}

// readLine reads to the end of a line, which is not part of it. The bytes are
// the reader's and last until the next read.
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
		return 0, fmt.Errorf("%w: length %.20q is not within 0 and %d", errProtocol, text, most)
	}
	return n, nil
}

// reply writes answers in the second version of the protocol.
type reply struct{ *bufio.Writer }

func (w reply) simple(text string) { fmt.Fprintf(w, "+%s\r\n", text) }
func (w reply) number(n int64)     { fmt.Fprintf(w, ":%d\r\n", n) }
func (w reply) null()              { fmt.Fprint(w, "$-1\r\n") }
func (w reply) array(n int)        { fmt.Fprintf(w, "*%d\r\n", n) }

func (w reply) bulk(data []byte) {
	fmt.Fprintf(w, "$%d\r\n", len(data))
	// A Writer keeps its first error, and Flush returns it.
	_, _ = w.Write(data)
	fmt.Fprint(w, "\r\n")
}

// fail answers with an error; its text may not break the line.
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
