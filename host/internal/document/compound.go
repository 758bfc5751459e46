package document

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
)

// compound is a compound file, the container of Office before 2007 and of Outlook: streams in
// storages, stored as chains of sectors. It is read by this package because a file may lie about
// each count and chain, and refers to its bytes in memory.
//
// Source: [MS-CFB].
type compound struct {
	data      []byte
	sector    int      // bytes
	fat       []uint32 // sectors that store the table of next sectors
	miniFAT   []byte
	mini      []byte // the stream of small sectors
	minBig    int    // bytes from which a stream has whole sectors
	entries   []compoundEntry
	remaining int64 // bytes of streams that may still be read
}

// compoundEntry is a stream or a storage.
type compoundEntry struct {
	name     string
	storage  bool
	start    uint32
	size     int
	children []int
}

const (
	chainEnd   = 0xFFFFFFFE
	noEntry    = 0xFFFFFFFF
	miniSector = 64
)

// openCompound reads the directory of a compound file.
func openCompound(limits *Limits, data []byte) (*compound, error) {
	if len(data) < 512 {
		return nil, fmt.Errorf("%w: it ends in the middle", ErrDamaged)
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
	shift := binary.LittleEndian.Uint16(data[30:])
	if shift != 9 && shift != 12 {
		return nil, fmt.Errorf("%w: sectors of 2^%d bytes", ErrDamaged, shift)
	}
	c := &compound{data: data, sector: 1 << shift, minBig: int(u32(56)), remaining: limits.Unpacked}
	for i := range 109 {
		if s := u32(76 + 4*i); s < chainEnd-3 {
			c.fat = append(c.fat, s)
		}
	}
	next, perSector := u32(68), c.sector/4
	for range len(data) / c.sector { // bounds rings
		s := c.at(next)
		if len(s) < c.sector {
			break
		}
		for i := range perSector - 1 {
			if f := binary.LittleEndian.Uint32(s[4*i:]); f < chainEnd-3 && len(c.fat) <= len(data)/c.sector {
				c.fat = append(c.fat, f)
			}
		}
		next = binary.LittleEndian.Uint32(s[c.sector-4:])
	}
	directory, err := c.chain(u32(48), len(data))
	if err != nil {
		return nil, err
	}
	if len(directory)/128 > limits.Parts+64 {
		return nil, exceeded(LimitParts, limits.Parts, "streams in the file")
	}
	if err := c.readDirectory(directory); err != nil {
		return nil, err
	}
	if c.miniFAT, err = c.chain(u32(60), len(data)); err != nil {
		return nil, err
	}
	c.mini, err = c.chain(c.entries[0].start, c.entries[0].size)
	return c, err
}

// at returns a sector, which is shorter at the end of the file; nil if it is outside.
func (c *compound) at(sector uint32) []byte {
	from := (int64(sector) + 1) * int64(c.sector)
	if sector >= chainEnd-3 || from >= int64(len(c.data)) {
		return nil
	}
	return c.data[from:min(from+int64(c.sector), int64(len(c.data)))]
}

// chain returns the bytes of a chain of sectors, at most size.
func (c *compound) chain(start uint32, size int) ([]byte, error) {
	var out []byte
	for n := start; n < chainEnd-3 && len(out) < size; {
		s := c.at(n)
		if out = append(out, s...); s == nil || len(out) >= len(c.data) { // a chain fills less than the file
			return nil, fmt.Errorf("%w: a chain of sectors is broken", ErrDamaged)
		}
		perSector := uint32(c.sector / 4)
		if int(n/perSector) >= len(c.fat) {
			return nil, fmt.Errorf("%w: a sector has no successor", ErrDamaged)
		}
		table := c.at(c.fat[n/perSector])
		if at := int(n%perSector) * 4; at+4 <= len(table) {
			n = binary.LittleEndian.Uint32(table[at:])
		} else {
			return nil, fmt.Errorf("%w: a sector has no successor", ErrDamaged)
		}
	}
	return out[:min(len(out), size)], nil
}

// readDirectory reads the entries, and the children of each storage.
func (c *compound) readDirectory(directory []byte) error {
	type links struct{ left, right, child uint32 }
	var tree []links
	for ; len(directory) >= 128; directory = directory[128:] {
		e := directory[:128]
		size := binary.LittleEndian.Uint64(e[120:])
		if c.sector == 512 {
			size &= 0xFFFFFFFF
		}
		name, _, _ := strings.Cut(utf16Text(e[:min(int(binary.LittleEndian.Uint16(e[64:])), 64)]), "\x00")
		c.entries = append(c.entries, compoundEntry{
			name:    name,
			storage: e[66] != 2, start: binary.LittleEndian.Uint32(e[116:]), size: int(min(size, uint64(len(c.data)))),
		})
		tree = append(tree, links{
			binary.LittleEndian.Uint32(e[68:]), binary.LittleEndian.Uint32(e[72:]), binary.LittleEndian.Uint32(e[76:]),
		})
	}
	if len(tree) == 0 {
		return fmt.Errorf("%w: it has no directory", ErrDamaged)
	}
	seen := make([]bool, len(tree))
	for parent := range tree {
		open := []uint32{tree[parent].child}
		for len(open) > 0 {
			i := open[len(open)-1]
			open = open[:len(open)-1]
			if int64(i) >= int64(len(tree)) || seen[i] || !c.entries[parent].storage {
				continue // none, or a ring
			}
			seen[i] = true
			c.entries[parent].children = append(c.entries[parent].children, int(i))
			open = append(open, tree[i].right, tree[i].left)
		}
	}
	return nil
}

// find returns the entry of a name in a storage, -1 if it is missing.
func (c *compound) find(storage int, name string) int {
	for _, i := range c.entries[storage].children {
		if strings.EqualFold(c.entries[i].name, name) {
			return i
		}
	}
	return -1
}

// stream returns the content of a stream in a storage; ok is false if it is missing.
func (c *compound) stream(storage int, name string) (content []byte, ok bool, err error) {
	i := c.find(storage, name)
	if i < 0 || c.entries[i].storage {
		return nil, false, nil
	}
	e := &c.entries[i]
	if c.remaining -= int64(e.size); c.remaining < 0 {
		return nil, true, exceeded(LimitUnpacked, c.remaining, "bytes of streams")
	}
	if e.size >= c.minBig {
		content, err = c.chain(e.start, e.size)
		return content, true, err
	}
	for n := e.start; n < chainEnd-3 && len(content) < e.size; {
		from := int64(n) * miniSector
		if from >= int64(len(c.mini)) || int64(n)*4+4 > int64(len(c.miniFAT)) {
			return nil, true, fmt.Errorf("%w: a chain of small sectors is broken", ErrDamaged)
		}
		content = append(content, c.mini[from:min(from+miniSector, int64(len(c.mini)))]...)
		n = binary.LittleEndian.Uint32(c.miniFAT[n*4:])
	}
	return content[:min(len(content), e.size)], true, nil
}

// compoundText reads a document of Office before 2007 or a message of Outlook into out. It may use
// up to granted bytes.
func compoundText(
	ctx context.Context, limits *Limits, data []byte, granted int64, in *attached, sheets *[]Sheet, out *page,
) error {
	c, err := openCompound(limits, data)
	if err != nil {
		return err
	}
	o := &office{ctx: ctx, limits: limits, work: granted}
	has := func(name string) bool { return c.find(0, name) >= 0 }
	switch {
	case has("EncryptedPackage"):
		return ErrEncrypted
	case has("Workbook"):
		if sheets != nil {
			return o.collectSheets(sheets, func(out *page) error { return o.xls(c, out) })
		}
		return o.xls(c, out)
	case sheets != nil:
		return errNoWorkbook
	case has("WordDocument"):
		return o.doc(c, out)
	case has("PowerPoint Document"):
		return o.ppt(c, out)
	case has(msgProperties):
		if in.depth++; in.depth > maxMessageDepth {
			return exceeded(LimitDepth, maxMessageDepth, "messages inside each other")
		}
		defer func() { in.depth-- }()
		return (&outlook{office: o, file: c, attached: in, out: out}).message(0, 0)
	case has("Book"):
		return fmt.Errorf("%w: it is a workbook of Excel before 97; save it as xlsx", ErrFormat)
	}
	return fmt.Errorf("%w: it is neither doc, xls, ppt nor msg; save it as docx, xlsx or pptx", ErrFormat)
}
