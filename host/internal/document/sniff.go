package document

import "fmt"

// SniffBytes bounds the beginning of a file that [Sniff] needs.
const SniffBytes = 64 << 10

// Sniff reports whether a file can be a document that [Reader] reads, by its name and its
// beginning. A file that passes may still be damaged, protected or empty of text.
//
// Errors: [ErrFormat], [ErrNoText] for an empty file.
func Sniff(name string, head []byte) error {
	if len(head) == 0 {
		return fmt.Errorf("%w: it is empty", ErrNoText)
	}
	switch kindOf(name, "", head) {
	case kindText:
		if !isText(head) {
			return notText()
		}
	}
	return nil
}
