package plugin

import (
	"log/slog"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// bulkFuncs is easel:host/v1: whole ranges are copied, so a megabyte costs one memmove.
var bulkFuncs = []hostFunc{
	{"input_len", ":i", func(g *guest, s []uint64) { s[0] = uint64(uint32(len(g.input))) }},
	{"input_read", "ii:i", func(g *guest, s []uint64) { g.input, s[0] = g.read(g.input, "input_read", s) }},
	{"output_write", "ii:", func(g *guest, s []uint64) {
		g.output = g.write(g.output, "output", "output_write", s, g.m.limits.OutputBytes())
	}},
	{"error_write", "ii:", func(g *guest, s []uint64) {
		most := min(g.m.limits.OutputBytes(), contract.MaxPiece)
		g.failure = g.write(g.failure, "error", "error_write", s, most)
	}},
	{"log", "iii:", func(g *guest, s []uint64) { g.log(uint32(s[0]), g.span("log", s[1], s[2])) }},
	{"emit", "iii:i", func(g *guest, s []uint64) {
		s[0] = g.emit(contract.Kind(uint32(s[0])),
			g.span("emit", s[1], s[2]))
	}},
	{"call", "iii:i", (*guest).bulkCall},
	{"result_read", "ii:i", func(g *guest, s []uint64) { g.result, s[0] = g.read(g.result, "result_read", s) }},
}

// span returns n bytes of guest memory at p; outside of it is a trap.
func (g *guest) span(name string, p, n uint64) []byte {
	g.hostWork(uint64(uint32(n)))
	if g.memory == nil {
		g.stop(contract.Errorf(contract.Trap, "%s: the module has no memory", name))
	}
	b, ok := g.memory.Read(uint32(p), uint32(n))
	if !ok {
		g.stop(contract.Errorf(contract.Trap, "%s: %d bytes at %d are outside the memory of %d", name, uint32(n),
			uint32(p), g.memory.Size()))
	}
	return b
}

// read copies the next bytes of from into the guest and returns the rest of from and the number of
// copied bytes.
func (g *guest) read(from []byte, name string, s []uint64) ([]byte, uint64) {
	n := copy(g.span(name, s[0], s[1]), from)
	return from[n:], uint64(uint32(n))
}

// write appends guest bytes to an output.
func (g *guest) write(to []byte, what, name string, s []uint64, most int) []byte {
	b := g.span(name, s[0], s[1])
	if len(to)+len(b) > most {
		g.stop(tooLarge(what, len(to)+len(b), most))
	}
	return append(to, b...)
}

// cancelled is returned by call instead of a length.
const cancelled = uint64(0xffffffff)

func (g *guest) bulkCall(s []uint64) {
	request := g.span("call", s[1], s[2])
	if format := uint32(s[0]); format != 0 {
		g.result = answerMessage(engine.Null, contract.Errorf(contract.Unsupported,
			"call format %d; this host reads format 0, JSON", format))
		s[0] = uint64(len(g.result))
		return
	}
	out, ok := g.requests.answer(request)
	g.result = out
	s[0] = uint64(uint32(len(out)))
	if !ok {
		s[0] = cancelled
	}
}

// levels are the names of log levels, by number.
var levels = [...]string{"trace", "debug", "info", "warn", "error"}

// log keeps a line, up to the caps. Further ones are dropped in silence, because a
// plugin that logs too much is a nuisance; one that does nothing else is stopped.
func (g *guest) log(level uint32, text []byte) {
	if g.logCalls++; g.logCalls > maxLogCalls {
		g.stop(contract.Errorf(contract.TooManyCalls, "more than %d lines of log", maxLogCalls))
	}
	if len(g.logs) >= maxLogs {
		return
	}
	name := levels[min(level, uint32(len(levels)-1))]
	line := LogLine{Level: name, Text: engine.UnmarkSecrets(printable(text, maxLogBytes), g.req.SecretMark)}
	g.logs = append(g.logs, line)
	g.report(slogLevels[name], line.Text)
}

// slogLevels are the levels of log lines as the log of the host has them.
var slogLevels = map[string]slog.Level{
	"trace": slog.LevelDebug - 4, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
	"error": slog.LevelError,
}

// report writes a line of the plugin to the log of the host.
func (g *guest) report(level slog.Level, text string) {
	log := g.m.host.cfg.PluginLog
	if !log.Enabled(g.ctx.Context, level) {
		return
	}
	attrs := []slog.Attr{slog.String("plugin", g.m.name()), slog.String("text", text)}
	for _, a := range [...]slog.Attr{
		slog.String("node", g.req.node), slog.String("call", g.req.id), slog.String("run", g.req.Run),
		slog.String("tenant", g.req.Tenant),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	log.LogAttrs(g.ctx.Context, level, "plugin log", attrs...)
}

// printable returns at most most bytes of a text of a guest, for errors and logs.
func printable(text []byte, most int) string {
	shown := contract.Printable(string(text[:min(len(text), most)]))
	return strings.ToValidUTF8(shown[:min(len(shown), most)], "")
}
