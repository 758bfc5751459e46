package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/cli/patch"
)

var patchCommand = command{
	name: "patch", args: "CANVAS.json PATCH.json [--invert] [-o FILE]",
	summary: "applies a patch to a canvas",
	help: `A patch is a JSON list of changes, as easel diff prints them:
{"path": [...], "before": ..., "after": ..., "at": n}. Without "before" a value is added, without
"after" it is removed. Exits with 4 if the patch does not match the canvas.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		invert := fs.Bool("invert", false, "apply the inverse of the patch")
		out := fs.String("o", "", "write the canvas to this `FILE` instead of printing it")
		return func(_ context.Context, a *app, args []string) error {
			if len(args) != 2 {
				return misuse("patch", "expected a canvas and a patch")
			}
			return a.patch(args[0], args[1], *out, *invert)
		}
	},
}

var diffCommand = command{
	name: "diff", args: "BEFORE.json AFTER.json",
	summary: "prints the patch that turns one canvas into another",
	help:    `Prints a JSON list for easel patch, one change per line; [] if nothing differs.`,
	setup: func(*flag.FlagSet) func(context.Context, *app, []string) error {
		return func(_ context.Context, a *app, args []string) error {
			if len(args) != 2 {
				return misuse("diff", "expected two canvases")
			}
			return a.diff(args[0], args[1])
		}
	},
}

func (a *app) patch(canvas, file, out string, invert bool) error {
	text, doc, err := readDocument(canvas)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return &usageError{"", err}
	}
	changes, err := patch.Parse(data)
	if err != nil {
		return &usageError{"", fmt.Errorf("%s: %w", file, err)}
	}
	if invert {
		changes = patch.Invert(changes)
	}
	if doc.Get("dsl").IsNull() { // edits name components, which an export may lack
		if whole, err := engine.Complete(a.registry, doc); err == nil {
			doc = whole
		}
	}
	changed, err := patch.Apply(doc, changes)
	if err != nil {
		fmt.Fprintf(a.err, "easel: %s: %v\n", canvas, err)
		return errInvalid
	}
	made := formatted(text, changed)
	if out != "" {
		return os.WriteFile(out, made, 0o644)
	}
	_, err = a.out.Write(made)
	return err
}

func (a *app) diff(before, after string) error {
	_, old, err := readDocument(before)
	if err != nil {
		return err
	}
	_, now, err := readDocument(after)
	if err != nil {
		return err
	}
	list := patch.Value(patch.Diff(old, now))
	if list.Len() == 0 {
		fmt.Fprintln(a.out, "[]")
		return nil
	}
	for i, c := range list.Elements() {
		mark, end := " ", ","
		if i == 0 {
			mark = "["
		}
		if i == list.Len()-1 {
			end = "]"
		}
		fmt.Fprintf(a.out, "%s%s%s\n", mark, c.JSON(), end)
	}
	return nil
}

func readDocument(path string) ([]byte, engine.Value, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, engine.Null, &usageError{"", err}
	}
	doc, err := engine.ParseJSON(text)
	if err != nil {
		return nil, engine.Null, &usageError{"", fmt.Errorf("%s: %w", path, err)}
	}
	return text, doc, nil
}

var indentation = regexp.MustCompile(`\n([ \t]+)\S`)

// formatted encodes a document with the indentation of the original text; a single line stays a
// single line.
func formatted(text []byte, doc engine.Value) []byte {
	made := doc.AppendJSON(nil)
	if m := indentation.FindSubmatch(text); m != nil {
		var indented bytes.Buffer
		if err := json.Indent(&indented, made, "", string(m[1])); err == nil {
			made = indented.Bytes()
		}
	}
	return append(made, '\n')
}
