package document

import (
	"bytes"
	"fmt"
	"strings"
)

// SniffBytes bounds the beginning of a file that [Sniff] needs.
const SniffBytes = 64 << 10

// Sniff reports whether a file can be a document that [Reader] reads, by its name and its
// beginning. A file that passes may still be damaged, protected or empty of text.
//
// Errors: [ErrFormat], [ErrEncrypted], [ErrNoText] for an empty file.
func Sniff(name string, head []byte) error {
	if len(head) == 0 {
		return fmt.Errorf("%w: it is empty", ErrNoText)
	}
	switch kindOf(name, "", head) {
	case kindOld:
		// The name of the stream is in UTF-16.
		name := strings.Join(strings.Split("EncryptedPackage", ""), "\x00")
		if bytes.Contains(head, []byte(name)) {
			return ErrEncrypted
		}
	case kindText:
		if !isText(head) {
			return notText()
		}
	}
	return nil
}
