package document

import (
	"strconv"
	"strings"
)

// oldFormats are the number formats of Word by their codes.
var oldFormats = map[byte]string{
	0: "decimal", 1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter", 5: "ordinal",
	10: "ideographDigital", 11: "japaneseCounting", 14: "decimalFullWidth", 18: "decimalEnclosedCircle",
	22: "decimalZero", 23: "bullet", 30: "ideographTraditional", 33: "taiwaneseCounting",
	37: "chineseCounting", 38: "chineseCountingThousand", 39: "chineseCounting", 255: "none",
}

// maxLists bounds the lists of a document.
const maxLists = 4096

// loadNumbering reads the lists and the references of paragraphs to them.
func (w *oldWord) loadNumbering() *numbering {
	n := &numbering{definitions: map[string]*listDefinition{}, lists: map[string]*wordNumber{}}
	list := w.part(wordLists)
	if len(list) < 2 {
		return n
	}
	count := min(u16(list), (len(list)-2)/28, maxLists)
	// The levels follow the table, beyond its declared size.
	levelsAt := u32(w.file[wordLists:]) + 2 + 28*u16(list)
	rest := w.table[min(max(levelsAt, 0), len(w.table)):]
	for i := range count {
		l := list[2+28*i:]
		d := &listDefinition{}
		for k := range d.levels {
			d.levels[k] = newListLevel()
		}
		isSimple := l[26]&1 != 0
		for k := range levels {
			if isSimple && k > 0 {
				break
			}
			var ok bool
			if d.levels[k], rest, ok = oldLevel(rest); !ok {
				return n
			}
		}
		n.definitions[strconv.Itoa(u32(l))] = d
	}
	w.loadOverrides(n)
	return n
}

// oldLevel reads a level of a list and returns the remaining bytes.
func oldLevel(d []byte) (l listLevel, rest []byte, ok bool) {
	l = newListLevel()
	if len(d) < 30 {
		return l, nil, false
	}
	l.start, l.format, l.decimal = min(u32(d), 1<<30), oldFormats[d[4]], d[5]&4 != 0
	if isKept := d[5]&8 != 0; isKept {
		l.restart = int(d[26])
	}
	at := 28 + int(d[24]) + int(d[25])
	if at+2 > len(d) || at+2+2*u16(d[at:]) > len(d) {
		return l, nil, false
	}
	size := 2 * u16(d[at:])
	var text strings.Builder
	for i := 0; i < size && i < 200; i += 2 {
		if c := u16(d[at+2+i:]); c < levels {
			text.WriteString("%" + strconv.Itoa(c+1))
		} else if c < 0xD800 {
			text.WriteRune(rune(c))
		}
	}
	l.text = text.String()
	return l, d[at+2+size:], true
}

// loadOverrides reads the lists that paragraphs name, with the starts that they replace.
func (w *oldWord) loadOverrides(n *numbering) {
	list := w.part(wordOverrides)
	if len(list) < 4 {
		return
	}
	count := min(u32(list), (len(list)-4)/16)
	rest := list[min(4+16*count, len(list)):]
	for i := range min(count, maxLists) {
		l := list[4+16*i:]
		num := &wordNumber{definition: strconv.Itoa(u32(l))}
		for k := range num.starts {
			num.starts[k] = -1
		}
		n.lists[strconv.Itoa(i+1)] = num
		if len(rest) < 4 {
			rest = nil
			continue
		}
		rest = rest[4:]
		for range l[12] {
			if len(rest) < 8 {
				rest = nil
				break
			}
			start, flags := u32(rest), u32(rest[4:])
			rest = rest[8:]
			at := min(flags&15, levels-1)
			if flags&32 != 0 {
				own, more, ok := oldLevel(rest)
				if rest = more; ok {
					num.own[at] = &own
				}
			}
			if flags&16 != 0 {
				num.starts[at] = min(start, 1<<30)
				if own := num.own[at]; own != nil {
					num.starts[at] = own.start
				}
			}
		}
	}
}
