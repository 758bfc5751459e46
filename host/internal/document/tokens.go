package document

import "io"

// tokens feeds an XML decoder byte by byte, and fails before the decoder buffers more of one token
// than allowed. The decoder reads no byte ahead of the token it returns, except for the < that ends
// character data.
type tokens struct {
	r     io.Reader
	piece []byte // read from r but not consumed
	buf   []byte
	err   error // of r, returned after piece

	maxToken int  // bytes allowed in a token
	size     int  // bytes of the open token
	attrs    int  // attributes that the open tag may still have
	maxAttrs int  // attributes allowed in a tag
	last     byte // the last byte returned
	quote    byte // the quote of the open attribute; 0 means none
	tag      position
}

// position is the position of the next byte inside a token.
type position byte

const (
	first    position = iota // the first byte of a token
	outside                  // text; the decoder ends the token at the next <
	tagStart                 // after <
	inTag
	inOther // a comment, a processing instruction or a CDATA section
)

func newTokens(r io.Reader, limits *Limits) *tokens {
	return &tokens{r: r, buf: make([]byte, 4<<10), maxToken: limits.Block, maxAttrs: limits.Attributes}
}

// next starts a token.
func (t *tokens) next() {
	t.size, t.quote, t.tag = 0, 0, first
	if t.last == '<' {
		t.tag, t.attrs = tagStart, t.maxAttrs
	}
}

// ReadByte implements io.ByteReader.
func (t *tokens) ReadByte() (byte, error) {
	if len(t.piece) == 0 {
		if err := t.fill(); err != nil {
			return 0, err
		}
	}
	b := t.piece[0]
	t.piece = t.piece[1:]
	t.last = b
	if t.size++; t.size > t.maxToken {
		return 0, exceeded(LimitBlock, t.maxToken, "bytes in one XML token")
	}
	switch t.tag {
	case first:
		if t.tag = outside; b == '<' {
			t.tag, t.attrs = tagStart, t.maxAttrs
		}
	case tagStart:
		if t.tag = inTag; b == '!' || b == '?' {
			t.tag = inOther
		}
	case inTag:
		switch {
		case t.quote != 0:
			if b == t.quote {
				t.quote = 0
			}
		case b == '"', b == '\'':
			if t.quote, t.attrs = b, t.attrs-1; t.attrs < 0 {
				return 0, exceeded(LimitAttributes, t.maxAttrs, "attributes in one element")
			}
		}
	}
	return b, nil
}

// Read passes bytes on unchecked. It is used to decode the encoding of a part.
func (t *tokens) Read(p []byte) (int, error) {
	if len(t.piece) == 0 {
		if err := t.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, t.piece)
	t.piece = t.piece[n:]
	return n, nil
}

func (t *tokens) fill() error {
	for len(t.piece) == 0 {
		if t.err != nil {
			return t.err
		}
		var n int
		n, t.err = t.r.Read(t.buf)
		t.piece = t.buf[:n]
	}
	return nil
}
