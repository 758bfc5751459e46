package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

var update = flag.Bool("update", false, "rewrite what the module says in js/golden")

// conversation is a file of js/golden.
type conversation struct {
	About string `json:"about"`
	Lines []line `json:"lines"`
}

// line is one call across the border, to the module or to the host.
type line struct {
	To   string `json:"to"`
	Fn   string `json:"fn"`
	Run  uint32 `json:"run,omitempty"`
	ID   uint32 `json:"id,omitempty"`
	Call uint32 `json:"call,omitempty"`
	OK   *bool  `json:"ok,omitempty"`
	More *bool  `json:"more,omitempty"`
	Text string `json:"text,omitempty"`
}

// notebook is a host that records what it receives.
type notebook struct {
	mu    sync.Mutex
	lines []line
}

func (n *notebook) note(l line) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l.To = "host"
	if last := len(n.lines) - 1; l.Fn == "emit" && last >= 0 && n.lines[last].Fn == "emit" &&
		n.lines[last].Run == l.Run {
		n.lines[last].Text += "\n" + l.Text // how many events come together depends on the scheduler
		return
	}
	n.lines = append(n.lines, l)
}

func (n *notebook) emit(run uint32, text []byte) {
	n.note(line{Fn: "emit", Run: run, Text: string(text)})
}

func (n *notebook) call(run, call uint32, text []byte) {
	n.note(line{Fn: "call", Run: run, Call: call, Text: string(text)})
}

func (n *notebook) done(id uint32, ok bool, text []byte) {
	n.note(line{Fn: "done", ID: id, OK: &ok, Text: string(text)})
}

// take returns the entries since the last call.
func (n *notebook) take() []line {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := n.lines
	n.lines = nil
	return lines
}

// tell sends a line to the module and runs it until it waits for the host or for a timer.
func tell(b *bridge, l line) {
	switch l.Fn {
	case "load":
		b.load(l.ID, l.Text)
	case "start":
		b.start(l.ID, l.Text)
	case "deliver":
		b.deliver(l.Call, *l.OK, *l.More, l.Text)
	case "cancel":
		b.cancel(l.ID)
	case "close":
		b.close(l.ID)
	}
	synctest.Wait()
}

// otherEnd are conversations that do not apply to this module, with the reason.
var otherEnd = map[string]string{
	"version":    "it is about a module of another contract",
	"components": "the module's own answer is long; TestComponentsFitTheGolden compares its form",
}

// TestGolden plays the conversations: given the lines to the module, it must send the others, in
// order. Ids are compared by where they occur.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("js/golden/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if otherEnd[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			var c conversation
			require.NoError(t, json.Unmarshal(text, &c))
			said := hold(t, c.Lines)
			if *update {
				require.NoError(t, os.WriteFile(path, write(c.About, said), 0o644))
				return
			}
			require.Equal(t, plain(c.Lines), plain(said))
		})
	}
}

// hold compares the whole conversation with the messages of the module.
func hold(t *testing.T, lines []line) (all []line) {
	synctest.Test(t, func(*testing.T) {
		host := &notebook{}
		b := newBridge(host)
		for i, l := range lines {
			switch {
			case l.To == "module":
				l.Text = echo(l.Text, lines[:i], all)
				tell(b, l)
				all = append(append(all, l), host.take()...)
			case strings.Contains(l.Text, `"abort"`): // the module times out by itself
				time.Sleep(time.Minute)
				synctest.Wait()
				all = append(all, host.take()...)
			}
		}
		all = append(all, host.take()...)
		b.close(0)
	})
	return all
}

// echo returns a text for the module with the ids of the file replaced by those of the module.
func echo(text string, file, real []line) string {
	written, said := idsOf(file), idsOf(real)
	return hexID.ReplaceAllStringFunc(text, func(id string) string {
		if i := slices.Index(written, id); i >= 0 && i < len(said) {
			return said[i]
		}
		return id
	})
}

// idsOf returns the ids in what the module said, in order.
func idsOf(lines []line) (ids []string) {
	for _, l := range lines {
		if l.To == "host" {
			ids = append(ids, hexID.FindAllString(l.Text, -1)...)
		}
	}
	return ids
}

var hexID = regexp.MustCompile(`[0-9a-f]{32}`)

// plain returns a conversation as text, with ids numbered as they come and JSON without the order
// of members.
func plain(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s %d %d %d", l.To, l.Fn, l.Run, l.ID, l.Call)
		if l.OK != nil {
			fmt.Fprintf(&b, " ok=%t", *l.OK)
		}
		if l.More != nil {
			fmt.Fprintf(&b, " more=%t", *l.More)
		}
		for _, each := range strings.Split(l.Text, "\n") {
			var v any
			if json.Unmarshal([]byte(each), &v) == nil {
				if sorted, err := json.Marshal(v); err == nil {
					each = string(sorted)
				}
			}
			b.WriteString("\n  " + each)
		}
		b.WriteString("\n")
	}
	ids := map[string]string{}
	return hexID.ReplaceAllStringFunc(b.String(), func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("id-%d", len(ids)+1)
		}
		return ids[id]
	})
}

// write returns a golden file: one line per call, so that a difference is easy to see.
func write(about string, lines []line) []byte {
	numbered := hexID.FindAllString(fmt.Sprint(lines), -1)
	ids := map[string]string{}
	for _, id := range numbered {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("%032x", len(ids)+1)
		}
	}
	var b bytes.Buffer
	encode := func(v any) string {
		var one bytes.Buffer
		e := json.NewEncoder(&one)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(err)
		}
		return strings.TrimSpace(one.String())
	}
	fmt.Fprintf(&b, "{\"about\": %s, \"lines\": [", encode(about))
	for i, l := range lines {
		if i > 0 {
			b.WriteByte(',')
		}
		l.Text = hexID.ReplaceAllStringFunc(l.Text, func(id string) string { return ids[id] })
		b.WriteString("\n " + encode(l))
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

// TestComponentsFitTheGolden compares the members of every description with those of the golden
// one.
func TestComponentsFitTheGolden(t *testing.T) {
	b := newBridge(&notebook{})
	answer, err := b.request(`{"op":"components"}`)
	require.NoError(t, err)
	specs, err := engine.ParseJSON(answer)
	require.NoError(t, err)
	require.Greater(t, specs.Len(), 20)
	known := []string{
		"name", "aliases", "description", "category", "group", "icon", "role", "thoughts", "label", "branches",
		"inputs",
		"outputs", "tool", "missing", "pipeline", "stand_in", "ignores", "params", "renamed", "title", "search",
		"first",
	}
	for _, s := range specs.Elements() {
		for name := range s.Fields() {
			require.Contains(t, known, name)
		}
		require.NotEmpty(t, s.Get("name").Str())
		require.Equal(t, "object", s.Get("params").Get("type").Str(), s.Get("name").Str())
	}
}
