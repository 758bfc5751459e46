package wallclock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Task is a model call of a shape that is a graph of calls.
type Task struct {
	ID    string   `json:"id"`
	Delay float64  `json:"delay"` // in units
	After []string `json:"after"` // tasks that it depends on
}

// shape is a canvas whose model calls have known durations.
type shape struct {
	name     string
	critical float64 // longest chain of calls that depend on each other, in units
	tasks    []Task  // the same as a graph, for peers; nil if it is none
	nodes    engine.Value
}

var shapes = []shape{
	ofTasks("two branches, 1+3 and 3+1, and a join", 4, []Task{
		{"a1", 1, nil}, {"a2", 3, []string{"a1"}}, {"b1", 3, nil}, {"b2", 1, []string{"b1"}},
	}),
	ofTasks("diamond of five uneven branches", 6, []Task{
		{"top", 1, nil},
		{"v1", 1, []string{"top"}},
		{"v2", 2, []string{"top"}},
		{"v3", 3, []string{"top"}},
		{"v4", 4, []string{"top"}},
		{"v5", 2.5, []string{"top"}},
		{"bottom", 1, []string{"v1", "v2", "v3", "v4", "v5"}},
	}),
	{
		name: "two streams with their Messages", critical: 3, nodes: streams(),
		tasks: []Task{{"a", 3, nil}, {"b", 2, nil}},
	},
	{name: "Agent, four tools and two sub-agents", critical: 5, nodes: agent(), tasks: agentTasks()},
	{
		name: "Iteration of 20, concurrency 5", critical: 4,
		nodes: items(iteration("Outer", 5, "", model("Each", 1, "Outer"))),
	},
	{name: "nested Iterations, 4 x 5", critical: 1, nodes: nested(), tasks: parallel(20)},
}

// node is one node of a canvas document.
type node struct {
	id, component, parent string
	params                engine.Value
	after                 []string
}

// model returns an LLM whose calls take so many units.
func model(id string, units float64, parent string, after ...string) node {
	prompts := engine.List(engine.Object("role", "user", "content", "go"))
	params := engine.Object("llm_id", "double", "sys_prompt", fmt.Sprint(units), "prompts", prompts)
	return node{"LLM:" + id, "LLM", parent, params, after}
}

// ofTasks returns a graph of calls with a join after those without dependents.
func ofTasks(name string, critical float64, tasks []Task) shape {
	var nodes []node
	var last []string
	for _, t := range tasks {
		after := []string{"begin"}
		if len(t.After) > 0 {
			after = nil
		}
		for _, id := range t.After {
			after = append(after, "LLM:"+id)
		}
		nodes = append(nodes, model(t.ID, t.Delay, "", after...))
		if !slices.ContainsFunc(tasks, func(other Task) bool { return slices.Contains(other.After, t.ID) }) {
			last = append(last, "LLM:"+t.ID)
		}
	}
	script := "{" + strings.Join(last, "@content} {") + "@content}"
	params := engine.Object("method", "merge", "script", script, "delimiters", engine.Strings(","))
	nodes = append(nodes, node{"StringTransform:Join", "StringTransform", "", params, last})
	return shape{name: name, critical: critical, tasks: tasks, nodes: document(nodes)}
}

// document returns the components of a canvas with a Begin before the nodes.
func document(nodes []node) engine.Value {
	nodes = append([]node{{id: "begin", component: "Begin", params: engine.Object()}}, nodes...)
	all := engine.NewObject(len(nodes))
	for _, n := range nodes {
		var down []string
		for _, other := range nodes {
			if slices.Contains(other.after, n.id) {
				down = append(down, other.id)
			}
		}
		c := engine.Object("obj", engine.Object("component_name", n.component, "params", n.params),
			"upstream", engine.Strings(n.after...), "downstream", engine.Strings(down...))
		if n.parent != "" {
			c = c.With("parent_id", engine.String(n.parent))
		}
		all.Set(n.id, c)
	}
	return all.Value()
}

func streams() engine.Value {
	say := func(id string) node {
		params := engine.Object("content", engine.Strings("{LLM:"+id+"@content}"))
		return node{"Message:" + id, "Message", "", params, []string{"LLM:" + id}}
	}
	return document([]node{model("A", 3, "", "begin"), say("A"), model("B", 2, "", "begin"), say("B")})
}

// agent calls all its tools at once, and then answers.
func agent() engine.Value {
	tools := engine.List()
	for _, name := range []string{"TavilySearch", "DuckDuckGo", "Wikipedia", "ArXiv"} {
		tool := engine.Object("component_name", name, "name", name, "params", engine.Object())
		tools = tools.Append(tool)
	}
	for _, name := range []string{"One", "Two"} {
		params := engine.Object("llm_id", "double", "sys_prompt", "3", "description", name,
			"tools", engine.List(), "mcp", engine.List(), "max_rounds", 2)
		sub := engine.Object("component_name", "Agent", "name", name, "id", "Agent:"+name, "params", params)
		tools = tools.Append(sub)
	}
	params := engine.Object("llm_id", "double", "sys_prompt", "1",
		"tools", tools, "mcp", engine.List(), "max_rounds", 3,
		"prompts", engine.List(engine.Object("role", "user", "content", "{sys.query}")))
	message := engine.Object("content", engine.Strings("{Agent:Main@content}"))
	return document([]node{
		{"Agent:Main", "Agent", "", params, []string{"begin"}},
		{"Message:M", "Message", "", message, []string{"Agent:Main"}},
	})
}

// agentTasks returns the calls of agent: its model, the model's tools, and its model again.
func agentTasks() []Task {
	tasks := []Task{{"plan", 1, nil}}
	var used []string
	for i := range 6 {
		t := Task{fmt.Sprintf("t%d", i), toolUnits, []string{"plan"}}
		if i >= 4 { // the sub-agents
			t.Delay = 3
		}
		tasks, used = append(tasks, t), append(used, t.ID)
	}
	return append(tasks, Task{"answer", 1, used})
}

// parallel returns n calls that do not depend on each other.
func parallel(n int) []Task {
	tasks := make([]Task, n)
	for i := range tasks {
		tasks[i] = Task{ID: fmt.Sprintf("p%d", i), Delay: 1}
	}
	return tasks
}

// iteration returns a body of nodes that runs for each item.
func iteration(id string, concurrency int, parent string, body ...node) []node {
	outer := "Iteration:" + id
	params := engine.Object("items_ref", "StringTransform:"+id+"@result", "concurrency", concurrency)
	item := node{"IterationItem:" + id, "IterationItem", outer, engine.Object(), nil}
	nodes := []node{{outer, "Iteration", parent, params, nil}, item}
	for _, n := range body {
		if len(n.after) == 0 && n.component != "IterationItem" {
			n.after = []string{item.id}
		}
		if n.parent == id {
			n.parent = outer
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// query is split into items by canvases: four groups of five.
var query = strings.TrimSuffix(strings.Repeat("x,x,x,x,x;", 4), ";")

// split splits a text into the items of an iteration.
func split(id, parent, of, after string, delimiters ...string) node {
	params := engine.Object("method", "split", "split_ref", of, "delimiters", engine.Strings(delimiters...))
	return node{"StringTransform:" + id, "StringTransform", parent, params, []string{after}}
}

// items returns a document of an iteration over all items of the query.
func items(body []node) engine.Value {
	body[0].after = []string{"StringTransform:Outer"}
	return document(append([]node{split("Outer", "", "sys.query", "begin", ",", ";")}, body...))
}

// nested returns a document of an iteration over the groups with one over the items of each.
func nested() engine.Value {
	inner := iteration("Inner", 5, "Iteration:Outer", model("Each", 1, "Inner"))
	inner[0].after = []string{"StringTransform:Inner"}
	group := split("Inner", "Outer", "IterationItem:Outer@item", "IterationItem:Outer", ",")
	outer := iteration("Outer", 4, "", append([]node{group}, inner...)...)
	outer[0].after = []string{"StringTransform:Outer"}
	return document(append([]node{split("Outer", "", "sys.query", "begin", ";")}, outer...))
}
