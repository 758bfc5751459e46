package plugin

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"sync"
)

// kernelFuncs is extism:host/env, written from the documented behaviour of
// the Extism kernel: bytes go through memory of the host, eight at a time.
// Reads outside it give 0 and writes do nothing, as there.
var kernelFuncs = []hostFunc{
	{"alloc", "I:I", func(g *guest, s []uint64) { s[0] = g.allocate(s[0]) }},
	{"free", "I:", func(g *guest, s []uint64) { g.hostWork(0); g.kernel.free(s[0]) }},
	{"length", "I:I", func(g *guest, s []uint64) { s[0] = g.kernel.blocks[s[0]] }},
	{"length_unsafe", "I:I", func(g *guest, s []uint64) { s[0] = g.kernel.blocks[s[0]] }},
	{"load_u8", "I:i", func(g *guest, s []uint64) { s[0] = g.kernel.loadU8(s[0]) }},
	{"load_u64", "I:I", func(g *guest, s []uint64) { s[0] = g.kernel.loadU64(s[0]) }},
	{"store_u8", "Ii:", func(g *guest, s []uint64) { g.kernel.storeU8(s[0], byte(s[1])) }},
	{"store_u64", "II:", func(g *guest, s []uint64) { g.kernel.storeU64(s[0], s[1]) }},
	{"input_length", ":I", func(g *guest, s []uint64) { s[0] = uint64(len(g.req.Input)) }},
	{"input_offset", ":I", func(g *guest, s []uint64) { s[0] = g.block(g.req.Input) }},
	{"input_load_u8", "I:i", func(g *guest, s []uint64) { s[0] = inputU8(g.req.Input, s[0]) }},
	{"input_load_u64", "I:I", func(g *guest, s []uint64) { s[0] = inputU64(g.req.Input, s[0]) }},
	{"output_set", "II:", func(g *guest, s []uint64) { g.outAt, g.outLen = s[0], s[1] }},
	{"output_length", ":I", func(g *guest, s []uint64) { s[0] = g.outLen }},
	{"output_offset", ":I", func(g *guest, s []uint64) { s[0] = g.outAt }},
	{"error_set", "I:", func(g *guest, s []uint64) { g.errAt = s[0] }},
	{"error_get", ":I", func(g *guest, s []uint64) { s[0] = g.errAt }},
	{"reset", ":", func(g *guest, s []uint64) { g.kernel.reset(); g.outAt, g.outLen, g.errAt = 0, 0, 0 }},
	{"memory_bytes", ":I", func(g *guest, s []uint64) { s[0] = uint64(len(g.kernel.bytes)) }},
	{"config_get", "I:I", func(g *guest, s []uint64) { s[0] = g.config(s[0]) }},
	{"var_get", "I:I", func(g *guest, s []uint64) { s[0] = g.block(g.scratch().get(string(g.kernel.block(s[0])))) }},
	{"var_set", "II:", (*guest).setVar},
	{"http_request", "II:I", (*guest).httpRequest},
	{"http_status_code", ":i", func(g *guest, s []uint64) { s[0] = uint64(g.status) }},
	{"http_headers", ":I", func(g *guest, s []uint64) { s[0] = g.block(g.headers) }},
	{"log_trace", "I:", logAt(0)},
	{"log_debug", "I:", logAt(1)},
	{"log_info", "I:", logAt(2)},
	{"log_warn", "I:", logAt(3)},
	{"log_error", "I:", logAt(4)},
	{"get_log_level", ":i", func(g *guest, s []uint64) { s[0] = 0 }},
}

// userFuncs is extism:host/user: emit and call for guests without raw pointers.
var userFuncs = []hostFunc{
	{"easel_emit", "I:I", (*guest).userEmit},
	{"easel_call", "I:I", (*guest).userCall},
}

func logAt(level uint32) func(*guest, []uint64) {
	return func(g *guest, s []uint64) { g.log(level, g.kernel.block(s[0])) }
}

func (g *guest) allocate(n uint64) uint64 {
	g.hostWork(n)
	at := g.kernel.alloc(n)
	if at == 0 && n != 0 {
		g.stop(fail(OutOfMemory, "wanted %d bytes of kernel memory, allowed are %d in all", n, maxKernel))
	}
	return at
}

// block copies b into kernel memory; nothing is 0.
func (g *guest) block(b []byte) uint64 {
	at := g.allocate(uint64(len(b)))
	if at != 0 {
		copy(g.kernel.block(at), b)
	}
	return at
}

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

func (g *guest) config(key uint64) uint64 {
	return g.block([]byte(g.m.settings[string(g.kernel.block(key))]))
}

func (g *guest) scratch() *Scratch {
	if g.req.Scratch == nil {
		g.req.Scratch = &Scratch{}
	}
	return g.req.Scratch
}

func (g *guest) setVar(s []uint64) {
	key, value := string(g.kernel.block(s[0])), g.kernel.block(s[1])
	if s[1] == 0 {
		value = nil
	}
	if !g.scratch().set(key, value) {
		g.stop(fail(OutOfMemory, "variables of more than %d bytes", maxScratch))
	}
}

// httpRequest runs a request in the form of Extism. A refusal has status 0 and
// the error as its body.
func (g *guest) httpRequest(s []uint64) {
	var in struct {
		URL     string            `json:"url"`
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
	}
	g.status, g.headers = 0, nil
	g.hostCall()
	g.hostWork(g.kernel.blocks[s[0]] + g.kernel.blocks[s[1]])
	err := json.Unmarshal(g.kernel.block(s[0]), &in)
	var reply *fetched
	e := fail(InvalidArgument, "http_request: %v", err)
	if err == nil {
		r := fetchRequest{URL: in.URL, Method: strings.ToUpper(in.Method), Headers: in.Headers}
		r.body = append([]byte(nil), g.kernel.block(s[1])...)
		reply, e = g.fetch(r)
	}
	if e != nil {
		g.log(3, []byte("http_request: "+e.Message))
		s[0] = g.block(answer(nil, e))
		return
	}
	g.status = uint16(reply.Status)
	lower := map[string]string{} // as the official host gives them
	for name, value := range reply.Headers {
		lower[strings.ToLower(name)] = value
	}
	if g.headers, err = json.Marshal(lower); err != nil {
		g.headers = nil
	}
	s[0] = g.block(reply.body)
}

func (g *guest) userEmit(s []uint64) {
	var in struct {
		Kind Kind            `json:"kind"`
		Data json.RawMessage `json:"data"`
	}
	g.hostWork(g.kernel.blocks[s[0]])
	if json.Unmarshal(g.kernel.block(s[0]), &in) != nil {
		s[0] = 0
		return
	}
	data := []byte(in.Data)
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	s[0] = g.emit(in.Kind, data)
}

func (g *guest) userCall(s []uint64) {
	g.hostWork(g.kernel.blocks[s[0]])
	out, ok := g.ask(append([]byte(nil), g.kernel.block(s[0])...))
	s[0] = 0
	if ok {
		s[0] = g.block(out)
	}
}

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
	if s.size+len(key)+len(value) > maxScratch {
		return false
	}
	if s.vars == nil {
		s.vars = map[string][]byte{}
	}
	s.vars[key] = append([]byte(nil), value...)
	s.size += len(key) + len(value)
	return true
}
