// Package sketch writes the documents of canvases for tests, from one line for each node. It
// imports nothing of the engine, so that tests inside of any package can use it.
package sketch

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// preset are the globals of a document that sets any.
const preset = `"sys.query": "", "sys.user_id": "", "sys.conversation_turns": 0, "sys.files": []`

// Canvas returns the document of a canvas. A line is a node: its id, its component, its params, the
// nodes after it and the container around it, of which the last three can be left out:
//
//	Message:A Message {"content": ["hi"]} -> Message:B Message:C ^ Loop:A
//
// A line that begins with = sets a global (=env.x 1), one that begins with @ a member of the
// document (@settings {"language": "English"}). JSON is copied as it stands. Canvas panics when a
// line is malformed.
func Canvas(lines ...string) string { return document(lines, false) }

// Chain is [Canvas] with an edge to the next node from each that names none and is in no container.
func Chain(lines ...string) string { return document(lines, true) }

func document(lines []string, chained bool) string {
	var nodes []node
	var globals, members []string
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "="):
			globals = append(globals, member(line))
		case strings.HasPrefix(line, "@"):
			members = append(members, member(line))
		default:
			nodes = append(nodes, parse(line))
		}
	}
	if chained {
		chain(nodes)
	}
	members = append(members, `"components": `+components(nodes))
	if len(globals) > 0 {
		members = append(members, `"globals": {`+preset+", "+strings.Join(globals, ", ")+"}")
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// Bytes is [Canvas] as bytes.
func Bytes(lines ...string) []byte { return []byte(Canvas(lines...)) }

// node is the line of a node.
type node struct {
	id, component, params, parent string
	down                          []string
}

// parse reads the line of a node.
func parse(line string) node {
	n := node{params: "{}"}
	var rest string
	n.id, rest, _ = strings.Cut(strings.TrimSpace(line), " ")
	n.component, rest, _ = strings.Cut(rest, " ")
	if rest = strings.TrimSpace(rest); strings.HasPrefix(rest, "{") {
		n.params, rest = cutJSON(line, rest)
	}
	words := strings.Fields(rest)
	if i := len(words) - 2; i >= 0 && words[i] == "^" {
		words, n.parent = words[:i], words[i+1]
	}
	if len(words) > 0 && words[0] == "->" {
		words, n.down = nil, words[1:]
	}
	if n.component == "" || len(words) > 0 {
		panic(fmt.Sprintf("sketch: line %q: expected id, component, params, -> nodes, ^ container", line))
	}
	return n
}

// chain adds the edges of [Chain].
func chain(nodes []node) {
	last := -1
	for i, n := range nodes {
		if n.parent != "" {
			continue
		}
		if last >= 0 && nodes[last].down == nil {
			nodes[last].down = []string{n.id}
		}
		last = i
	}
}

// components returns the nodes as the member of a document, with the edges in both directions.
func components(nodes []node) string {
	up := map[string][]string{}
	for _, n := range nodes {
		for _, id := range n.down {
			up[id] = append(up[id], n.id)
		}
	}
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = fmt.Sprintf(`%q: {"obj": {"component_name": %q, "params": %s}, "downstream": %s, "upstream": %s`,
			n.id, n.component, n.params, quoted(n.down), quoted(up[n.id]))
		if n.parent != "" {
			list[i] += fmt.Sprintf(`, "parent_id": %q`, n.parent)
		}
		list[i] += "}"
	}
	return "{" + strings.Join(list, ", ") + "}"
}

func quoted(ids []string) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = strconv.Quote(id)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// member returns a member of an object from a line such as "=name value".
func member(line string) string {
	name, text, _ := strings.Cut(line[1:], " ")
	value, rest := cutJSON(line, text)
	if rest != "" {
		panic(fmt.Sprintf("sketch: line %q: expected a name and one JSON value", line))
	}
	return strconv.Quote(name) + ": " + value
}

// cutJSON cuts the JSON value at the beginning of a text off.
func cutJSON(line, text string) (value, rest string) {
	d := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		panic(fmt.Sprintf("sketch: line %q: invalid JSON: %v", line, err))
	}
	return text[:d.InputOffset()], strings.TrimSpace(text[d.InputOffset():])
}
