package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// ask prompts for the fields of a form, one line each. An empty line takes the default; a required
// field is asked again. It returns errUnanswered at the end of the input.
func (a *app) ask(ctx context.Context, fields engine.Value, tips string) (engine.Value, error) {
	if tips != "" {
		fmt.Fprintf(a.err, "\n%s\n", tips)
	}
	b := engine.NewObject(fields.Len())
	refused := ""
	for name, field := range fields.Fields() {
		if name == refused+engine.ArgumentsSuffix {
			continue // a tool that is refused needs no arguments
		}
		v, err := a.askField(ctx, name, field)
		if errors.Is(err, io.EOF) {
			return engine.Null, errUnanswered
		}
		if err != nil {
			return engine.Null, err
		}
		if !field.Get("approval").IsNull() && v.Str() == engine.ApprovalNo {
			refused = name
		}
		b.Set(name, v)
	}
	return b.Value(), nil
}

func (a *app) askField(ctx context.Context, name string, field engine.Value) (engine.Value, error) {
	for {
		fmt.Fprint(a.err, prompt(name, field))
		line, err := a.line(ctx)
		if err != nil {
			return engine.Null, err
		}
		v, err := parseAnswer(field, line)
		switch {
		case err != nil:
			fmt.Fprintf(a.err, "  %v\n", err)
		case v.IsNull() && !field.Get("optional").True():
			fmt.Fprintln(a.err, "  a value is required")
		default:
			return v, nil
		}
	}
}

// line reads a line of input and trims it. It returns when ctx ends, even without input, and io.EOF
// at the end of the input.
func (a *app) line(ctx context.Context) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := a.in.ReadString('\n')
		if text != "" && errors.Is(err, io.EOF) {
			err = nil
		}
		done <- read{strings.TrimSpace(text), err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// prompt returns the line in front of an answer: label, what is accepted, default.
func prompt(name string, field engine.Value) string {
	label := field.Get("name").Text()
	if label == "" {
		label = name
	}
	var notes []string
	for _, o := range field.Get("options").Elements() {
		notes = append(notes, optionText(o))
	}
	switch field.Get("type").Text() {
	case "boolean":
		notes = append(notes, "yes/no")
	case "file":
		notes = append(notes, "path of a file")
	}
	if field.Get("optional").True() {
		notes = append(notes, "optional")
	}
	if d := field.Get("value"); d.Truthy() {
		notes = append(notes, "default "+d.Text())
	}
	if len(notes) > 0 {
		label += " (" + strings.Join(notes, ", ") + ")"
	}
	return label + ": "
}

func optionText(o engine.Value) string {
	if v, ok := o.Lookup("value"); ok {
		return v.Text()
	}
	return o.Text()
}

// parseAnswer reads one line by the type of its field.
func parseAnswer(field engine.Value, line string) (engine.Value, error) {
	if line == "" {
		return field.Get("value"), nil
	}
	if options := field.Get("options"); options.Len() > 0 {
		for _, o := range options.Elements() {
			if strings.EqualFold(optionText(o), line) {
				return engine.String(optionText(o)), nil
			}
		}
		return engine.Null, fmt.Errorf("%q is not one of the options", line)
	}
	switch field.Get("type").Text() {
	case "boolean":
		switch strings.ToLower(line) {
		case "yes", "y", "true", "1":
			return engine.Bool(true), nil
		case "no", "n", "false", "0":
			return engine.Bool(false), nil
		}
		return engine.Null, fmt.Errorf("%q is not yes or no", line)
	case "integer", "number":
		v, ok := engine.ParseNumber(line)
		if !ok {
			return engine.Null, fmt.Errorf("%q is not a number", line)
		}
		return v, nil
	}
	return engine.String(line), nil
}
