package python

import "bytes"

// blockSize is the size of all blocks of a file but the last.
const blockSize = 256 << 10

// content is the bytes of a file in blocks: a file that grows is not copied, since the copies would
// be garbage that a busy machine collects too late for the memory limit.
type content struct {
	blocks [][]byte
	size   int64
}

// resize sets the size. New bytes are zero.
func (c *content) resize(size int64) {
	whole := int((size + blockSize - 1) / blockSize)
	first := max(0, min(len(c.blocks), whole)-1) // the blocks before stay as they are
	if whole < len(c.blocks) {
		clear(c.blocks[whole:])
		c.blocks = c.blocks[:whole]
	}
	for len(c.blocks) < whole {
		var b []byte
		if len(c.blocks) > 0 { // only the first one grows: most files are small
			b = make([]byte, 0, blockSize)
		}
		c.blocks = append(c.blocks, b)
	}
	for i := first; i < whole; i++ {
		n := int(min(blockSize, size-int64(i)*blockSize))
		b := c.blocks[i]
		if n > len(b) {
			b = append(b, make([]byte, n-len(b))...)
		}
		c.blocks[i] = b[:n]
	}
	c.size = size
}

// readAt copies bytes from a position within the size.
func (c *content) readAt(buf []byte, at int64) (n int) {
	for n < len(buf) && at < c.size {
		k := copy(buf[n:], c.blocks[at/blockSize][at%blockSize:])
		n, at = n+k, at+int64(k)
	}
	return n
}

// writeAt copies bytes to a position; all of them are within the size.
func (c *content) writeAt(buf []byte, at int64) {
	for len(buf) > 0 {
		k := copy(c.blocks[at/blockSize][at%blockSize:], buf)
		buf, at = buf[k:], at+int64(k)
	}
}

// bytes returns all bytes.
func (c *content) bytes() []byte {
	if len(c.blocks) == 1 {
		return c.blocks[0]
	}
	return bytes.Join(c.blocks, nil)
}
