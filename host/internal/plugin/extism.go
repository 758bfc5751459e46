package plugin

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// extism holds the state that the Extism protocol keeps outside the guest's memory.
type extism struct {
	g *guest
	arena
	status      uint16 // of the last request
	headers     []byte // of its response, JSON
	outAt, outN uint64 // the output, in the arena
	errAt       uint64
}

// reset makes the memory ready for another call.
func (x *extism) reset() {
	x.arena.reset()
	x.status, x.headers, x.outAt, x.outN, x.errAt = 0, nil, 0, 0, 0
}

// kernelFunc returns a function of extism:host/env or extism:host/user.
func kernelFunc(name, typ string, run func(x *extism, s []uint64)) hostFunc {
	return hostFunc{name, typ, func(g *guest, s []uint64) { run(&g.kernel, s) }}
}

// kernelFuncs is extism:host/env, written from the documented behaviour of the Extism kernel: bytes
// go through memory of the host, eight at a time. Reads outside it give 0 and writes do nothing, as
// there.
var kernelFuncs = []hostFunc{
	kernelFunc("alloc", "I:I", func(x *extism, s []uint64) { s[0] = x.allocate(s[0]) }),
	kernelFunc("free", "I:", func(x *extism, s []uint64) { x.g.hostWork(0); x.free(s[0]) }),
	kernelFunc("length", "I:I", func(x *extism, s []uint64) { s[0] = x.blocks[s[0]] }),
	kernelFunc("length_unsafe", "I:I", func(x *extism, s []uint64) { s[0] = x.blocks[s[0]] }),
	kernelFunc("load_u8", "I:i", func(x *extism, s []uint64) { s[0] = x.loadU8(s[0]) }),
	kernelFunc("load_u64", "I:I", func(x *extism, s []uint64) { s[0] = x.loadU64(s[0]) }),
	kernelFunc("store_u8", "Ii:", func(x *extism, s []uint64) { x.storeU8(s[0], byte(s[1])) }),
	kernelFunc("store_u64", "II:", func(x *extism, s []uint64) { x.storeU64(s[0], s[1]) }),
	kernelFunc("input_length", ":I", func(x *extism, s []uint64) { s[0] = uint64(len(x.g.req.Input)) }),
	kernelFunc("input_offset", ":I", func(x *extism, s []uint64) { s[0] = x.put(x.g.req.Input) }),
	kernelFunc("input_load_u8", "I:i", func(x *extism, s []uint64) { s[0] = inputU8(x.g.req.Input, s[0]) }),
	kernelFunc("input_load_u64", "I:I", func(x *extism, s []uint64) { s[0] = inputU64(x.g.req.Input, s[0]) }),
	kernelFunc("output_set", "II:", func(x *extism, s []uint64) { x.outAt, x.outN = s[0], s[1] }),
	kernelFunc("output_length", ":I", func(x *extism, s []uint64) { s[0] = x.outN }),
	kernelFunc("output_offset", ":I", func(x *extism, s []uint64) { s[0] = x.outAt }),
	kernelFunc("error_set", "I:", func(x *extism, s []uint64) { x.errAt = s[0] }),
	kernelFunc("error_get", ":I", func(x *extism, s []uint64) { s[0] = x.errAt }),
	kernelFunc("reset", ":", func(x *extism, _ []uint64) { x.arena.reset(); x.outAt, x.outN, x.errAt = 0, 0, 0 }),
	kernelFunc("memory_bytes", ":I", func(x *extism, s []uint64) { s[0] = uint64(len(x.bytes)) }),
	kernelFunc("config_get", "I:I", (*extism).config),
	kernelFunc("var_get", "I:I", func(x *extism, s []uint64) { s[0] = x.put(x.scratch().get(string(x.block(s[0])))) }),
	kernelFunc("var_set", "II:", (*extism).setVar),
	kernelFunc("http_request", "II:I", (*extism).httpRequest),
	kernelFunc("http_status_code", ":i", func(x *extism, s []uint64) { s[0] = uint64(x.status) }),
	kernelFunc("http_headers", ":I", func(x *extism, s []uint64) { s[0] = x.put(x.headers) }),
	kernelFunc("log_trace", "I:", logAt(0)),
	kernelFunc("log_debug", "I:", logAt(1)),
	kernelFunc("log_info", "I:", logAt(2)),
	kernelFunc("log_warn", "I:", logAt(3)),
	kernelFunc("log_error", "I:", logAt(4)),
	kernelFunc("get_log_level", ":i", func(_ *extism, s []uint64) { s[0] = 0 }),
}

// userFuncs is extism:host/user: emit and call for guests without raw pointers.
var userFuncs = []hostFunc{
	kernelFunc("easel_emit", "I:I", (*extism).emit),
	kernelFunc("easel_call", "I:I", (*extism).call),
}

func logAt(level uint32) func(*extism, []uint64) {
	return func(x *extism, s []uint64) { x.g.log(level, x.block(s[0])) }
}

func (x *extism) allocate(n uint64) uint64 {
	x.g.hostWork(n)
	at := x.alloc(n)
	if at == 0 && n != 0 {
		const text = "wanted %d bytes of kernel memory, allowed are %d in all"
		x.g.stop(contract.Errorf(contract.OutOfMemory, text, n, maxKernel))
	}
	return at
}

// put copies b into kernel memory; nothing is 0.
func (x *extism) put(b []byte) uint64 {
	at := x.allocate(uint64(len(b)))
	if at != 0 {
		copy(x.block(at), b)
	}
	return at
}

// output returns the range that output_set named; ok is false when it lies outside the memory.
func (x *extism) output() (b []byte, ok bool) { return x.span(x.outAt, x.outN) }

func inputU8(in []byte, at uint64) uint64 {
	if at >= uint64(len(in)) {
		return 0
	}
	return uint64(in[at])
}

func inputU64(in []byte, at uint64) uint64 {
	if n := uint64(len(in)); at > n || n-at < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(in[at:])
}

func (x *extism) config(s []uint64) {
	name := string(x.block(s[0]))
	text := contract.SettingText(x.g.req.Settings.Get(name))
	if text == "" {
		text = x.g.m.settings[name]
	}
	s[0] = x.put([]byte(text))
}

func (x *extism) scratch() *Scratch {
	if x.g.req.Scratch == nil {
		x.g.req.Scratch = &Scratch{}
	}
	return x.g.req.Scratch
}

func (x *extism) setVar(s []uint64) {
	key, value := string(x.block(s[0])), x.block(s[1])
	if s[1] == 0 {
		value = nil
	}
	if !x.scratch().set(key, value) {
		x.g.stop(contract.Errorf(contract.OutOfMemory, "variables of more than %d bytes", maxScratch))
	}
}

// httpRequest runs a request in the form of Extism. As in the official host, a request that is
// refused or fails ends the call: PDKs do not expect a response without a status.
func (x *extism) httpRequest(s []uint64) {
	x.status, x.headers = 0, nil
	x.g.requests.count()
	x.g.hostWork(x.blocks[s[0]] + x.blocks[s[1]])
	reply, e := x.fetch(x.block(s[0]), x.block(s[1]))
	if e != nil {
		failed := *e
		failed.Message = "http_request: " + strings.TrimPrefix(e.Message, "http_request: ")
		x.g.stop(&failed)
	}
	x.status = uint16(reply.Status)
	lower := map[string]string{} // as in the official host
	for name, value := range reply.Headers {
		lower[strings.ToLower(name)] = value
	}
	x.headers = headerObject(lower).AppendJSON(nil)
	s[0] = x.put(reply.body)
}

func (x *extism) fetch(head, body []byte) (*fetched, *contract.Error) {
	v, err := engine.ParseJSON(head)
	if err != nil {
		return nil, contract.Errorf(contract.InvalidArgument, "http_request: %v", err)
	}
	r, err := readFetch("http_request", v)
	if err != nil {
		return nil, contract.AsError(err, contract.InvalidArgument)
	}
	r.Method, r.body = strings.ToUpper(r.Method), bytes.Clone(body)
	return x.g.requests.fetch(r)
}

func (x *extism) emit(s []uint64) {
	x.g.hostWork(x.blocks[s[0]])
	v, err := engine.ParseJSON(x.block(s[0]))
	kind, ok := v.Get("kind").Int()
	if s[0] = 0; err != nil || !ok {
		return
	}
	data := []byte(v.Get("data").Str())
	if v.Get("data").Kind() != engine.KindString {
		data = v.Get("data").AppendJSON(nil)
	}
	s[0] = x.g.emit(contract.Kind(kind), data)
}

func (x *extism) call(s []uint64) {
	x.g.hostWork(x.blocks[s[0]])
	out, ok := x.g.requests.answer(bytes.Clone(x.block(s[0])))
	s[0] = 0
	if ok {
		s[0] = x.put(out)
	}
}

// variableCost is the memory of a variable without its key and value. It counts towards maxScratch
// when there are several.
const variableCost = 96

// Scratch holds the Extism variables of one run. The zero value is ready.
type Scratch struct {
	mu   sync.Mutex
	vars map[string][]byte
	size int
}

func (s *Scratch) get(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vars[key]
}

// set stores a copy; nil removes. It reports whether there was room.
func (s *Scratch) set(key string, value []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, had := s.vars[key]
	if had {
		s.size -= len(key) + len(old)
		delete(s.vars, key)
	}
	if value == nil {
		return true
	}
	if s.size+len(key)+len(value)+variableCost*len(s.vars) > maxScratch {
		return false
	}
	if s.vars == nil {
		s.vars = map[string][]byte{}
	}
	s.vars[key] = append([]byte(nil), value...)
	s.size += len(key) + len(value)
	return true
}
