package failure_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/cli/place/placetest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
	"github.com/easel-canvas/easel/plugins/tools"
)

// TestCanvasesRunWhole runs canvases on the command's own server, over HTTP and event streams,
// against doubles of every service: each node succeeds with outputs of the declared types, and each
// tool is called. It runs the canvases of this package, and the files in the folder EASEL_CANVASES.
func TestCanvasesRunWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	easel, err := servertest.Build(t.TempDir(), "../cmd/easel")
	require.NoError(t, err)
	s := newServices(t)
	w := embedded(t, programs{easel: easel})
	w.env = []string{"EASEL_MODEL_BASE_URL=" + s.model, "EASEL_MODEL_KEY=none", "EASEL_MODEL_DEFAULT=double"}
	python, err := filepath.Abs("../../build/out")
	require.NoError(t, err)
	w.args = append(w.args, "--sqlite", s.databases, "--knowledge", "../examples/knowledge", "--python", python)
	w.start("whole")
	registry, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	ran := map[string]bool{}
	for _, c := range canvasesToRun(t, registry) {
		t.Run(c.name, func(t *testing.T) {
			walk := &canvasWalk{t: t, w: w, services: s, registry: registry, ran: ran}
			walk.all(c.doc)
		})
	}
	for _, spec := range registry.Specs() {
		if works(spec) {
			assert.True(t, ran[spec.Name], "component %s ran in no canvas", spec.Name)
		}
	}
	all, err := tools.All()
	require.NoError(t, err)
	for _, tool := range all {
		if _, err := os.Stat(doubleOf(tool.Name())); err == nil && tool.BaseParam() != "" {
			assert.NotZero(t, s.times(tool.Name()), "the service of %s was not asked", tool.Name())
		}
	}
	assert.NotZero(t, s.mails.Load(), "no mail was sent")
}

// canvasToRun is a canvas of a file.
type canvasToRun struct {
	name string
	doc  map[string]any
}

// canvasesToRun returns our own canvases and those of the folder EASEL_CANVASES that are no
// pipelines.
func canvasesToRun(t *testing.T, registry *engine.Registry) []canvasToRun {
	list := ownCanvases(t, registry)
	folder := os.Getenv("EASEL_CANVASES")
	if folder == "" {
		return list
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "EASEL_CANVASES: no .json files in %s", folder)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var doc map[string]any
		require.NoError(t, json.Unmarshal(raw, &doc), file)
		if inner, ok := doc["dsl"].(map[string]any); ok {
			doc = inner
		}
		if _, ok := nodesOf(doc)["begin"]; ok {
			list = append(list, canvasToRun{strings.TrimSuffix(filepath.Base(file), ".json"), doc})
		}
	}
	return list
}

// nodesOf returns the components of a document: id -> obj.
func nodesOf(doc map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	components, _ := doc["components"].(map[string]any)
	for id, entry := range components {
		node, _ := entry.(map[string]any)
		if obj, ok := node["obj"].(map[string]any); ok {
			if _, ok := obj["params"].(map[string]any); !ok {
				obj["params"] = map[string]any{}
			}
			out[id] = obj
		}
	}
	return out
}

// canvasWalk runs one canvas once for each way that its Categorize nodes can choose.
type canvasWalk struct {
	t        *testing.T
	w        *world
	services *services
	registry *engine.Registry
	ran      map[string]bool // names of components, over all canvases

	nodes   map[string]map[string]any
	canvas  string
	memory  string          // of nodes that remember, made when one does
	missing map[string]bool // tools that were not called yet: ids of nodes, or AGENT > COMPONENT
	files   []json.RawMessage
}

// mostForms bounds the forms of one run, and mostBranches the runs of a canvas.
const (
	mostForms    = 12
	mostBranches = 24
)

func (c *canvasWalk) all(doc map[string]any) {
	c.nodes, c.missing = nodesOf(doc), map[string]bool{}
	server := c.server()
	for id, obj := range c.nodes {
		name, params := obj["component_name"].(string), obj["params"].(map[string]any)
		c.services.settle(name, params, server)
		c.belongings(name, params)
		if spec, err := c.registry.Lookup(name); err == nil && spec.Tool != nil {
			c.missing[id] = true
		}
		c.expect(id, params)
	}
	dsl, err := json.Marshal(doc)
	require.NoError(c.t, err)
	c.canvas = c.w.canvas(string(dsl))
	if unknown := c.unknownOutput(); unknown != "" {
		c.fails(unknown)
		return
	}
	c.upload("notes.txt", "text/plain", []byte("ten years of Go"))
	c.upload("dot.png", "image/png", dot())
	for i := range c.branches() {
		c.services.choose(i)
		c.run()
	}
	require.Empty(c.t, slices.Sorted(maps.Keys(c.missing)), "tools that were never called")
}

// belongings makes what a component, or a tool of an agent, names on the host: a canvas, a memory.
func (c *canvasWalk) belongings(component string, params map[string]any) {
	if component == "Canvas" {
		params["canvas"] = c.w.canvas(sketch.Chain("begin Begin", `Message:M Message {"content":["inner"]}`))
	}
	if _, remembers := params["memory_ids"]; remembers {
		if c.memory == "" {
			var made struct{ ID string }
			c.w.call("POST", c.w.any()+"/api/v2/memories", `{"name":"m"}`, &made)
			c.memory = made.ID
		}
		params["memory_ids"] = []string{c.memory}
	}
	list, _ := params["tools"].([]any)
	for _, one := range list {
		tool := one.(map[string]any)
		c.belongings(tool["component_name"].(string), tool["params"].(map[string]any))
	}
}

// unknownOutput returns the diagnostic of a canvas that reads an output which no component has, or
// "".
func (c *canvasWalk) unknownOutput() string {
	var report struct {
		Diagnostics []struct{ Code, Message string }
	}
	c.w.call("POST", c.w.any()+"/api/v2/canvases/"+c.canvas+"/validate", `{}`, &report)
	for _, d := range report.Diagnostics {
		if d.Code == engine.CodeUnknownOutput {
			return d.Message
		}
	}
	return ""
}

// fails runs a canvas whose Iteration goes over an output that no component has. Its value is "",
// not a list: the node fails, as in the original.
func (c *canvasWalk) fails(unknown string) {
	var r struct{ ID string }
	c.w.call("POST", c.w.any()+"/api/v2/canvases/"+c.canvas+"/runs", `{"query":"q"}`, &r)
	c.w.follow(r.ID, 0, nil).wait()
	status, problem := c.w.status(r.ID)
	require.Equal(c.t, "failed", status, unknown)
	require.Contains(c.t, problem, "must be a list, but it is a string", unknown)
	require.False(c.t, placetest.Lacks(problem), problem)
}

// server registers the MCP server of the doubles and returns its id.
func (c *canvasWalk) server() string {
	var made struct {
		Data    struct{ ID string }
		Message string
	}
	body := fmt.Sprintf(`{"name":%q,"url":%q,"server_type":"streamable-http"}`, c.t.Name(), c.services.mcp)
	c.w.call("POST", c.w.any()+"/v1/mcp_server/create", body, &made)
	require.NotEmpty(c.t, made.Data.ID, made.Message)
	return made.Data.ID
}

// expect records the tools of an agent and of the agents below it.
func (c *canvasWalk) expect(agent string, params map[string]any) {
	list, _ := params["tools"].([]any)
	for _, one := range list {
		tool := one.(map[string]any)
		spec, err := c.registry.Lookup(tool["component_name"].(string))
		require.NoError(c.t, err)
		c.missing[agent+" > "+spec.Name] = true
		c.expect(agent, tool["params"].(map[string]any))
	}
	servers, _ := params["mcp"].([]any)
	for _, one := range servers {
		if bound, all := one.(map[string]any)["tools"].(map[string]any); !all || len(bound) > 0 {
			c.missing[agent+" > lookup"] = true
		}
	}
}

// branches returns the number of ways in which the Categorize nodes can choose, mostBranches at
// most.
func (c *canvasWalk) branches() int {
	ways := 1
	for _, obj := range c.nodes {
		list, _ := obj["params"].(map[string]any)["category_description"].(map[string]any)
		ways = min(ways*max(1, len(list)), mostBranches)
	}
	return ways
}

// run runs the canvas once, with an answer to each form.
func (c *canvasWalk) run() {
	var r struct{ ID string }
	inputs := map[string]any{}
	if begin, ok := c.nodes["begin"]["params"].(map[string]any)["inputs"].(map[string]any); ok {
		inputs = c.filled(begin)
	}
	body, err := json.Marshal(map[string]any{"query": question, "inputs": inputs, "files": c.files})
	require.NoError(c.t, err)
	c.w.call("POST", c.w.any()+"/api/v2/canvases/"+c.canvas+"/runs", string(body), &r)
	for range mostForms {
		events := c.w.follow(r.ID, 0, nil).wait()
		c.check(events)
		status, problem := c.w.status(r.ID)
		if status != "paused" {
			require.Equal(c.t, "succeeded", status, problem)
			return
		}
		c.answer(events, &r.ID)
	}
	require.Fail(c.t, "the run asks for ever")
}

// answer fills in the form that a run ended with.
func (c *canvasWalk) answer(events []event, run *string) {
	form, err := engine.ParseJSONText(events[len(events)-2].data)
	require.NoError(c.t, err)
	var fields map[string]any
	require.NoError(c.t, json.Unmarshal([]byte(form.Get("data").Get("inputs").JSON()), &fields))
	body, err := json.Marshal(map[string]any{"inputs": c.filled(fields)})
	require.NoError(c.t, err)
	var next struct{ ID string }
	c.w.call("POST", c.w.any()+"/api/v2/runs/"+*run+"/resume", string(body), &next)
	*run = next.ID
}

// filled answers the fields of a form.
func (c *canvasWalk) filled(fields map[string]any) map[string]any {
	out := map[string]any{}
	for name, f := range fields {
		field, _ := f.(map[string]any)
		var value any = question
		kind, _ := field["type"].(string)
		switch options, _ := field["options"].([]any); {
		case strings.Contains(kind, "file"):
			value = c.files[0]
		case len(options) > 0:
			value = options[0]
		case kind == "boolean":
			value = true
		case kind == "integer", kind == "number":
			value = 3
		}
		out[name] = map[string]any{"type": kind, "value": value}
	}
	return out
}

// check checks the events of a run: no error, no missing requirement, outputs of the declared
// types.
func (c *canvasWalk) check(events []event) {
	for _, e := range events {
		v, err := engine.ParseJSONText(e.data)
		require.NoError(c.t, err)
		data := v.Get("data")
		require.False(c.t, placetest.Lacks(e.data), "%s: %s", e.kind, e.data)
		switch e.kind {
		case string(engine.EventNodeStarted): // a Loop that is left by an ExitLoop does not finish
			c.ran[c.nodes[data.Get("component_id").Str()]["component_name"].(string)] = true
		case string(engine.EventNodeFinished):
			c.node(data)
		case string(engine.EventToolFinished):
			c.called(data)
		case string(engine.EventWarning):
			// These canvases weigh vectors more than usual, and the host has no model for them.
			if !strings.HasPrefix(data.Get("text").Str(), "Retrieval: no_vectors: ") {
				c.t.Errorf("warning: %s", data.JSON())
			}
		}
	}
}

// node checks a finished node.
func (c *canvasWalk) node(data engine.Value) {
	id := data.Get("component_id").Str()
	outputs := data.Get("outputs")
	if problem := data.Get("error").Text() + outputs.Get("_ERROR").Text(); problem != "" {
		c.t.Errorf("%s: %s", id, problem)
		return
	}
	spec, err := c.registry.Lookup(c.nodes[id]["component_name"].(string))
	require.NoError(c.t, err)
	params, err := json.Marshal(c.nodes[id]["params"])
	require.NoError(c.t, err)
	declared, err := engine.ParseJSON(params)
	require.NoError(c.t, err)
	for _, wrong := range enginetest.CheckOutputs(spec, declared, outputs) {
		c.t.Errorf("%s: %s", id, wrong)
	}
	delete(c.missing, id)
}

// called checks the answer of an agent's tool.
func (c *canvasWalk) called(data engine.Value) {
	agent, tool := data.Get("component_id").Str(), data.Get("tool_name").Str()
	result := data.Get("result").Text()
	if result == "" || strings.Contains(result, `"error"`) || strings.Contains(result, "rror:") {
		c.t.Errorf("%s: tool %s%s: %s", agent, tool, data.Get("arguments").JSON(), result)
	}
	if tool == "lookup" {
		delete(c.missing, agent+" > lookup")
		return
	}
	for _, spec := range c.registry.Specs() {
		if spec.Tool == nil {
			continue
		}
		if _, ok := strings.CutPrefix(tool, spec.Tool.Function+"_"); ok {
			c.ran[spec.Name] = true
			delete(c.missing, agent+" > "+spec.Name)
		}
	}
	if c.missing[agent+" > Agent"] && strings.Contains(data.Get("arguments").JSON(), "user_prompt") {
		delete(c.missing, agent+" > Agent") // sub-agents have other names
	}
}

// upload adds a file to those of each run.
func (c *canvasWalk) upload(name, mime string, content []byte) {
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	part, err := parts.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename=%q`, name)}, "Content-Type": {mime},
	})
	require.NoError(c.t, err)
	_, err = part.Write(content)
	require.NoError(c.t, err)
	require.NoError(c.t, parts.Close())
	req, err := http.NewRequestWithContext(c.t.Context(), "POST", c.w.any()+"/v1/canvas/upload/"+c.canvas, &form)
	require.NoError(c.t, err)
	req.Header.Set("Authorization", "Bearer "+worldKey)
	req.Header.Set("Content-Type", parts.FormDataContentType())
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	var made struct{ Data json.RawMessage }
	require.NoError(c.t, json.Unmarshal(body, &made), "%s", body)
	c.files = append(c.files, made.Data)
}

// dot returns an image of one pixel.
func dot() []byte {
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	image, _ := base64.StdEncoding.DecodeString(png) // a constant
	return image
}
