package wattest

import (
	"fmt"
	"strconv"
	"strings"
)

// module collects entries per section; names map to indices per kind.
type module struct {
	sections [13][][]byte
	custom   [][]byte
	types    map[string]int
	names    map[string]map[string]int // kind -> $name -> index
	counts   map[string]int            // kind -> number of entries
	bodies   []node                    // functions with a body, in order
	late     []node                    // data, elem, export, start, global: after all names are known
	start    []byte
	err      error
}

const (
	secType, secImport, secFunc, secTable, secMemory, secGlobal = 1, 2, 3, 4, 5, 6
	secExport, secStart, secElem, secCode, secData              = 7, 8, 9, 10, 11
)

var kinds = map[string]byte{"func": 0, "table": 1, "memory": 2, "global": 3}

func newModule() *module {
	return &module{types: map[string]int{}, names: map[string]map[string]int{}, counts: map[string]int{}}
}

func (m *module) declare(items []node) error {
	for _, n := range items {
		switch head := n.word(0); head {
		case "import":
			m.importItem(n)
		case "func", "memory", "table", "global":
			m.own(n, head)
		case "data", "elem", "export", "start":
			m.late = append(m.late, n)
		case "type":
			m.names["type"] = with(m.names["type"], n.word(1), m.typeIndex(n.items[2].items[1:]))
		case "custom":
			m.custom = append(m.custom, append(name(nil, n.items[1].text), n.items[2].text...))
		default:
			return fmt.Errorf("wattest: line %d: unknown field %q", n.line, head)
		}
	}
	return m.err
}

func with(t map[string]int, name string, i int) map[string]int {
	if t == nil {
		t = map[string]int{}
	}
	if name != "" {
		t[name] = i
	}
	return t
}

// bind assigns the next index of a kind to the entry and exports it if requested.
func (m *module) bind(kind string, n node) {
	i := m.counts[kind]
	m.counts[kind]++
	if name := n.word(1); strings.HasPrefix(name, "$") {
		m.names[kind] = with(m.names[kind], name, i)
	}
	for _, item := range n.items {
		if item.is("export") {
			m.add(secExport, u32(append(name(nil, item.items[1].text), kinds[kind]), uint32(i)))
		}
	}
}

func (m *module) add(sec int, entry []byte) { m.sections[sec] = append(m.sections[sec], entry) }

func (m *module) importItem(n node) {
	what := n.items[3]
	kind := what.word(0)
	entry := append(name(name(nil, n.items[1].text), n.items[2].text), kinds[kind])
	switch kind {
	case "func":
		head, _ := split(what)
		entry = u32(entry, uint32(m.typeIndex(head)))
	case "memory":
		entry = append(entry, m.limits(what)...)
	case "table":
		entry = append(append(entry, 0x70), m.limits(what)...)
	case "global":
		entry = append(entry, globalType(what)...)
	}
	m.add(secImport, entry)
	m.bind(kind, what)
}

func (m *module) own(n node, kind string) {
	m.bind(kind, n)
	switch kind {
	case "func":
		head, _ := split(n)
		m.add(secFunc, u32(nil, uint32(m.typeIndex(head))))
		m.bodies = append(m.bodies, n)
	case "memory":
		m.add(secMemory, m.limits(n))
	case "table":
		m.add(secTable, append([]byte{0x70}, m.limits(n)...))
	case "global":
		m.late = append(m.late, n)
	}
}

// limits reads the limits of a memory or table.
func (m *module) limits(n node) []byte {
	var nums []uint32
	for _, item := range n.items {
		if v, err := strconv.ParseUint(item.text, 0, 32); err == nil && !item.str {
			nums = append(nums, uint32(v))
		}
	}
	switch len(nums) {
	case 1:
		return u32([]byte{0}, nums[0])
	case 2:
		return u32(u32([]byte{1}, nums[0]), nums[1])
	}
	m.fail(n, "want a size")
	return nil
}

func (m *module) fail(n node, format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf("wattest: line %d: %s", n.line, fmt.Sprintf(format, args...))
	}
}

func globalType(n node) []byte {
	for _, item := range n.items {
		if item.is("mut") {
			return []byte{valTypes[item.word(1)], 1}
		}
		if t, ok := valTypes[item.text]; ok && !item.list {
			return []byte{t, 0}
		}
	}
	return nil
}

// values lists the types in (head …) parts and binds their names from index on.
func values(items []node, head string, names map[string]int, index int) []byte {
	var out []byte
	for _, item := range items {
		if !item.is(head) {
			continue
		}
		for _, t := range item.items[1:] {
			if strings.HasPrefix(t.text, "$") {
				names[t.text] = index + len(out)
				continue
			}
			out = append(out, valTypes[t.text])
		}
	}
	return out
}

// typeIndex finds or adds the signature in items; (type $t) refers to an existing one.
func (m *module) typeIndex(items []node) int {
	for _, item := range items {
		if item.is("type") {
			return m.names["type"][item.word(1)]
		}
	}
	unused := map[string]int{}
	params, results := values(items, "param", unused, 0), values(items, "result", unused, 0)
	t := append(u32([]byte{0x60}, uint32(len(params))), params...)
	t = append(u32(t, uint32(len(results))), results...)
	i, ok := m.types[string(t)]
	if !ok {
		i = len(m.types)
		m.types[string(t)] = i
		m.add(secType, t)
	}
	return i
}

// define writes the entries that refer to names.
func (m *module) define() error {
	for _, n := range m.late {
		switch n.word(0) {
		case "data":
			text := n.items[len(n.items)-1].text
			m.add(secData, name(append([]byte{0}, m.expr(n.items[1].items)...), text))
		case "elem":
			entry := append([]byte{0}, m.expr(n.items[1].items)...)
			entry = u32(entry, uint32(len(n.items)-2))
			for _, f := range n.items[2:] {
				entry = u32(entry, m.index("func", f))
			}
			m.add(secElem, entry)
		case "export":
			what := n.items[2]
			kind := what.word(0)
			m.add(secExport, u32(append(name(nil, n.items[1].text), kinds[kind]), m.index(kind, what.items[1])))
		case "start":
			m.start = u32(nil, m.index("func", n.items[1]))
		case "global":
			m.add(secGlobal, append(globalType(n), m.expr(n.items[len(n.items)-1].items)...))
		}
	}
	for _, n := range m.bodies {
		m.add(secCode, m.body(n))
	}
	return m.err
}

func (m *module) expr(items []node) []byte {
	b := &body{m: m}
	b.instructions(items)
	return append(b.out, 0x0b)
}

// index resolves $name or a number.
func (m *module) index(kind string, n node) uint32 {
	if strings.HasPrefix(n.text, "$") {
		i, ok := m.names[kind][n.text]
		if !ok {
			m.fail(n, "no %s %s", kind, n.text)
		}
		return uint32(i)
	}
	i, err := strconv.ParseUint(n.text, 0, 32)
	if err != nil {
		m.fail(n, "want a %s, got %q", kind, n.text)
	}
	return uint32(i)
}

func (m *module) bytes() []byte {
	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	for id, entries := range m.sections {
		if id == secStart && m.start != nil {
			out = section(out, secStart, m.start)
		}
		if len(entries) == 0 {
			continue
		}
		payload := u32(nil, uint32(len(entries)))
		for _, e := range entries {
			payload = append(payload, e...)
		}
		out = section(out, byte(id), payload)
	}
	for _, c := range m.custom {
		out = section(out, 0, c)
	}
	return out
}

func section(out []byte, id byte, payload []byte) []byte {
	return append(u32(append(out, id), uint32(len(payload))), payload...)
}

func u32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func name(b []byte, s string) []byte { return append(u32(b, uint32(len(s))), s...) }
