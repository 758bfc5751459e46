package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// Every benchmark reports ns/node; the floors write the same bytes as a chain does, so ratios to
// them mean something on any machine.

func perNode(b *testing.B, nodes int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nodes), "ns/node")
}

func chain(n int) []string {
	lines := []string{`begin Begin -> n0`}
	for i := range n {
		to := fmt.Sprintf(" -> n%d", i+1)
		if i == n-1 {
			to = ""
		}
		lines = append(lines, fmt.Sprintf(`n%d StringTransform {"method":"merge","script":"ok"}%s`, i, to))
	}
	return lines
}

// built returns a canvas of the real components.
func built(b testing.TB, lines ...string) *engine.Canvas {
	b.Helper()
	reg, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		b.Fatal(err)
	}
	c, err := engine.Load(reg, sketch.Bytes(lines...))
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// runAll measures turns of a conversation that is emptied before each of them.
func runAll(b *testing.B, c *engine.Canvas, in engine.Input, opt engine.Options) {
	b.Helper()
	b.ReportAllocs()
	opt.TaskID = "0123456789abcdef0123456789abcdef"
	st := c.State()
	for b.Loop() {
		st.Reset(false)
		for _, err := range c.Run(b.Context(), st, in, opt) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkChain(b *testing.B) {
	for _, n := range []int{10, 100, 500, 5000} {
		b.Run("nodes="+strconv.Itoa(n), func(b *testing.B) {
			runAll(b, built(b, chain(n)...), engine.Input{}, engine.Options{})
			perNode(b, n)
		})
	}
}

func BenchmarkFanOut(b *testing.B) {
	const n = 50
	var targets, refs []string
	lines := []string{""}
	for i := range n {
		targets = append(targets, fmt.Sprintf("n%d", i))
		refs = append(refs, fmt.Sprintf("{n%d@result}", i))
		lines = append(lines, fmt.Sprintf(`n%d StringTransform {"method":"merge","script":"ok"} -> join`, i))
	}
	lines[0] = "begin Begin -> " + strings.Join(targets, " ")
	lines = append(lines, fmt.Sprintf(`join StringTransform {"method":"merge","script":%q}`, strings.Join(refs, "")))
	b.Run("nodes="+strconv.Itoa(n), func(b *testing.B) {
		runAll(b, built(b, lines...), engine.Input{}, engine.Options{})
		perNode(b, n+1)
	})
}

func BenchmarkIteration(b *testing.B) {
	const items = 200
	c := built(b, `begin Begin -> it`, `it Iteration {"items_ref":"sys.query"}`, `ii IterationItem -> s ^ it`,
		`s StringTransform {"method":"merge","script":"ok"} ^ it`)
	var list []engine.Value
	for i := range items {
		list = append(list, engine.Int(int64(i)))
	}
	b.Run("items="+strconv.Itoa(items), func(b *testing.B) {
		runAll(b, c, engine.Input{Query: engine.List(list...)}, engine.Options{})
		perNode(b, 2*items)
	})
}

// BenchmarkWaiting has as many joins that wait as nodes in the chain they wait for.
func BenchmarkWaiting(b *testing.B) {
	const n = 500
	lines := []string{`begin Begin -> n0`}
	for i := range n {
		lines[0] += fmt.Sprintf(" j%d", i)
		to := ""
		if i < n-1 {
			to = fmt.Sprintf(" -> n%d", i+1)
		}
		lines = append(lines, fmt.Sprintf(`n%d StringTransform {"method":"merge","script":"ok"}%s`, i, to),
			fmt.Sprintf(`j%d StringTransform {"method":"merge","script":"{n%d@result}"}`, i, i))
	}
	b.Run("joins="+strconv.Itoa(n), func(b *testing.B) {
		runAll(b, built(b, lines...), engine.Input{}, engine.Options{})
		perNode(b, 2*n)
	})
}

// BenchmarkRunLog runs a chain without a log, with one in memory, and with one in a file that is
// written in groups of 64 KB (group commit).
func BenchmarkRunLog(b *testing.B) {
	const n = 100
	for _, kind := range []string{"none", "memory", "file"} {
		b.Run(fmt.Sprintf("nodes=%d/log=%s", n, kind), func(b *testing.B) {
			c := built(b, chain(n)...)
			st := c.State()
			file, err := os.Create(filepath.Join(b.TempDir(), "log"))
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			var log []byte
			b.ReportAllocs()
			for b.Loop() {
				st.Reset(false)
				log = log[:0]
				for e, err := range c.Run(b.Context(), st, engine.Input{},
					engine.Options{Checkpoints: kind != "none"}) {
					if err != nil {
						b.Fatal(err)
					}
					log = append(append(log, e.JSON...), '\n')
					if kind == "file" && len(log) > groupCommit {
						log = flush(b, file, log)
					}
				}
				if kind == "file" {
					log = flush(b, file, log)
				}
			}
			perNode(b, n)
		})
	}
}

// groupCommit is the number of bytes of a log that one write has.
const groupCommit = 64 << 10

func flush(b *testing.B, file *os.File, log []byte) []byte {
	if _, err := file.WriteAt(log, 0); err != nil {
		b.Fatal(err)
	}
	return log[:0]
}

// referenceText returns 100 KB with the given number of references in it.
func referenceText(refs int) string {
	var t strings.Builder
	pad := strings.Repeat("x", 95)
	for i := range refs {
		fmt.Fprintf(&t, "%s{sys.v%d}", pad, i)
	}
	return t.String()
}

// renderer measures its text inside of a run, against a join of the same parts.
type renderer struct {
	Script engine.Text `json:"script"`
	b      *testing.B
}

func (r *renderer) Run(ctx context.Context, call *engine.Call) error {
	parts := joinParts()
	var rendering, joining time.Duration
	for r.b.Loop() {
		start := time.Now()
		for range inTurn {
			if _, err := call.Render(ctx, &r.Script, engine.TextStyle{}); err != nil {
				return err
			}
		}
		between := time.Now()
		for range inTurn {
			if len(strings.Join(parts, "")) == 0 {
				return errors.New("nothing was joined")
			}
		}
		rendering += between.Sub(start)
		joining += time.Since(between)
	}
	r.b.ReportMetric(float64(rendering)/float64(joining), "x-join")
	return nil
}

// inTurn is the number of texts that are rendered and joined in turns, so that other work on the
// machine, and the collector, slow both.
const inTurn = 8

// joinParts returns the parts of the text that BenchmarkReferences renders.
func joinParts() []string {
	pad := strings.Repeat("x", 95)
	parts := make([]string, 0, 2000)
	for range 1000 {
		parts = append(parts, pad, "value")
	}
	return parts
}

// BenchmarkReferences reports how much longer a text with references takes than a plain join of the
// same parts, measured in turns.
func BenchmarkReferences(b *testing.B) {
	const refs = 1000
	b.Run("refs="+strconv.Itoa(refs), func(b *testing.B) {
		reg := toys(b)
		if err := reg.Add(engine.Spec{Name: "Renderer", Inline: true, New: func() engine.Component { return &renderer{b: b} }}); err != nil {
			b.Fatal(err)
		}
		params := engine.Object("script", referenceText(refs)).JSON()
		doc, err := engine.ParseJSON(sketch.Bytes("begin Renderer " + params))
		if err != nil {
			b.Fatal(err)
		}
		globals := engine.NewObject(refs)
		for i := range refs {
			globals.Set(fmt.Sprintf("sys.v%d", i), engine.String("value"))
		}
		c, err := engine.LoadValue(reg, doc.With("globals", globals.Value()))
		if err != nil {
			b.Fatal(err)
		}
		st := c.State()
		b.ReportAllocs()
		for _, err := range c.Run(b.Context(), st, engine.Input{}, engine.Options{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100, 5000} {
		doc := sketch.Bytes(chain(n)...)
		reg, err := engine.NewRegistry(component.Builtin()...)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("nodes="+strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := engine.Load(reg, doc); err != nil {
					b.Fatal(err)
				}
			}
			perNode(b, n)
		})
	}
}

func BenchmarkSave(b *testing.B) {
	const n = 100
	c := built(b, chain(n)...)
	st := c.State()
	for _, err := range c.Run(b.Context(), st, engine.Input{}, engine.Options{}) {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("nodes="+strconv.Itoa(n), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(c.Save(st)) == 0 {
				b.Fatal("nothing saved")
			}
		}
		perNode(b, n)
	})
}

// floorNode is the events of one node of a chain.
type floorNode struct {
	id, head string
}

func floorNodes(n int) []floorNode {
	nodes := make([]floorNode, n)
	for i := range nodes {
		id := "n" + strconv.Itoa(i)
		nodes[i] = floorNode{id, `"component_id":"` + id + `","component_name":"","component_type":"StringTransform"`}
	}
	return nodes
}

const floorTail = `","message_id":"0123456789abcdef0123456789abcdef","created_at":1769177389,"task_id":"0123456789abcdef0123456789abcdef","data":`

// BenchmarkFloorAppend is the lower bound for two events per node: appended JSON and a callback.
func BenchmarkFloorAppend(b *testing.B) {
	const n = 100
	nodes := floorNodes(n)
	total := 0
	emit := func(p []byte) { total += len(p) }
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		for i := range nodes {
			start := time.Now()
			buf = append(buf[:0], `{"event":"node_started`...)
			buf = append(buf, floorTail...)
			buf = append(buf, `{"inputs":null,"created_at":`...)
			buf = strconv.AppendInt(buf, start.Unix(), 10)
			buf = append(buf, ',')
			buf = append(buf, nodes[i].head...)
			buf = append(buf, `,"thoughts":"Working on a text"}}`...)
			emit(buf)
			now := time.Now()
			buf = append(buf[:0], `{"event":"node_finished`...)
			buf = append(buf, floorTail...)
			buf = append(buf, `{"inputs":{},"outputs":{"_created_time":`...)
			buf = strconv.AppendFloat(buf, float64(start.UnixMicro())/1e6, 'f', 6, 64)
			buf = append(buf, `,"_elapsed_time":`...)
			buf = strconv.AppendFloat(buf, now.Sub(start).Seconds(), 'f', 6, 64)
			buf = append(buf, `,"result":"ok"},`...)
			buf = append(buf, nodes[i].head...)
			buf = append(buf, `,"error":null,"elapsed_time":`...)
			buf = strconv.AppendFloat(buf, now.Sub(start).Seconds(), 'f', 6, 64)
			buf = append(buf, `,"created_at":`...)
			buf = strconv.AppendFloat(buf, float64(now.UnixMicro())/1e6, 'f', 6, 64)
			buf = append(buf, "}}"...)
			emit(buf)
		}
	}
	perNode(b, n)
}

// BenchmarkFloorChannel is the usual design: encoding/json and a channel per event.
func BenchmarkFloorChannel(b *testing.B) {
	const n = 100
	type data struct {
		Inputs    map[string]any `json:"inputs"`
		Outputs   map[string]any `json:"outputs,omitempty"`
		ID        string         `json:"component_id"`
		Name      string         `json:"component_name"`
		Type      string         `json:"component_type"`
		Thoughts  string         `json:"thoughts"`
		Error     *string        `json:"error"`
		Elapsed   float64        `json:"elapsed_time"`
		CreatedAt float64        `json:"created_at"`
	}
	type event struct {
		Event     string `json:"event"`
		MessageID string `json:"message_id"`
		CreatedAt int64  `json:"created_at"`
		TaskID    string `json:"task_id"`
		Data      data   `json:"data"`
	}
	nodes := floorNodes(n)
	ch := make(chan []byte)
	done := make(chan int)
	go func() {
		total := 0
		for p := range ch {
			total += len(p)
		}
		done <- total
	}()
	id := strings.Repeat("0123456789abcdef", 2)
	b.ReportAllocs()
	for b.Loop() {
		for i := range nodes {
			start := time.Now()
			for _, name := range []string{"node_started", "node_finished"} {
				e := event{Event: name, MessageID: id, CreatedAt: start.Unix(), TaskID: id, Data: data{
					ID: nodes[i].id, Type: "StringTransform", CreatedAt: float64(start.UnixMicro()) / 1e6,
				}}
				if name == "node_finished" {
					e.Data.Inputs = map[string]any{}
					e.Data.Outputs = map[string]any{"_created_time": 1.5, "_elapsed_time": 0.1, "result": "ok"}
				}
				var buf bytes.Buffer
				if err := json.NewEncoder(&buf).Encode(e); err != nil {
					b.Fatal(err)
				}
				ch <- buf.Bytes()
			}
		}
	}
	close(ch)
	<-done
	perNode(b, n)
}
