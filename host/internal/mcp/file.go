package mcp

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/nearest"
)

// Set holds servers by the id that canvases use.
type Set map[string]Server

// Find returns a server by its id.
func (set Set) Find(_ context.Context, id string) (Server, error) {
	if s, ok := set[id]; ok {
		return s, nil
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	if meant, ok := nearest.Match(id, names); ok {
		return Server{}, fmt.Errorf("MCP server %q is not known; did you mean %q?", id, meant)
	}
	return Server{}, fmt.Errorf("MCP server %q is not known; name it in the file of --mcp", id)
}

// ReadSet reads servers from a file in the form that other programs use: {"mcpServers": {name:
// server}}, where a server is {type, url, headers} or {command, args, env}, both with variables.
func ReadSet(path string) (Set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("MCP servers: %w", err)
	}
	v, err := engine.ParseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("MCP servers %s: %w", path, err)
	}
	list, ok := v.Lookup("mcpServers")
	if !ok || list.Kind() != engine.KindObject {
		return nil, fmt.Errorf("MCP servers %s: mcpServers is missing; expected an object of servers by name", path)
	}
	set := Set{}
	for name, entry := range list.Fields() {
		d, err := ReadDoc(entry)
		s := d.Server(name, name)
		if err == nil {
			err = s.Check()
		}
		if err != nil {
			return nil, fmt.Errorf("MCP servers %s: %s: %w", path, name, err)
		}
		set[name] = s
	}
	return set, nil
}

// types are the names of transports in files.
var types = map[string]string{
	"": "", "http": TypeStreamable, "streamable-http": TypeStreamable, "streamableHttp": TypeStreamable,
	"sse": TypeSSE, "stdio": TypeStdio,
}

// ReadDoc reads a server from {type, url, headers} or {command, args, env}. Without a type one with
// a command is a stdio server, any other a streamable-http server.
func ReadDoc(v engine.Value) (Doc, error) {
	d := Doc{URL: v.Get("url").Text(), Command: v.Get("command").Text(), Description: v.Get("description").Text()}
	name := cmp.Or(v.Get("type").Text(), v.Get("server_type").Text(), v.Get("transport").Text())
	kind, ok := types[name]
	if !ok {
		return d, fmt.Errorf("%w: %.40q; accepted are %s, %s and %s", ErrType, name, TypeSSE, TypeStreamable, TypeStdio)
	}
	d.Type = cmp.Or(kind, TypeStreamable)
	if kind == "" && d.Command != "" {
		d.Type = TypeStdio
	}
	for _, arg := range v.Get("args").Elements() {
		d.Args = append(d.Args, arg.Text())
	}
	d.Headers, d.Env = texts(v.Get("headers")), texts(v.Get("env"))
	d.Variables = v.Get("variables")
	if d.Variables.Kind() != engine.KindObject {
		d.Variables = engine.Object()
	}
	if token := v.Get("authorization_token").Text(); token != "" {
		if d.Headers == nil {
			d.Headers = map[string]string{}
		}
		d.Headers["Authorization"] = "Bearer ${authorization_token}"
		d.Variables = d.Variables.With("authorization_token", engine.String(strings.TrimSpace(token)))
	}
	return d, nil
}

// texts converts an object to a map of texts; nil if it is empty.
func texts(v engine.Value) map[string]string {
	if v.Len() == 0 {
		return nil
	}
	out := make(map[string]string, v.Len())
	for name, value := range v.Fields() {
		out[name] = value.Text()
	}
	return out
}
