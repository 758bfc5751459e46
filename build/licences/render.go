package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// notice returns the NOTICE of a list: easel's own lines, and the notices that licences require to
// be passed on, each once.
func notice(list []component) []byte {
	var out bytes.Buffer
	out.WriteString(`easel
Copyright The easel authors

This product contains software of others. It is listed with its licences in the folder licences of the
repository, and by the command easel licences.
`)
	var passed []string
	for _, c := range list {
		if c.Notice != "" {
			fmt.Fprintln(&out, c.Notice)
		}
	}
	for _, c := range list {
		for _, f := range c.Files {
			if noticeFile.MatchString(f.Name) && !slices.Contains(passed, f.Text) {
				passed = append(passed, f.Text)
				fmt.Fprintf(&out, "\n---- %s ----\n\n%s\n", c.Name, strings.TrimSpace(f.Text))
			}
		}
	}
	return out.Bytes()
}

// render formats a list: the notice, a table of the components, and the texts of their licences,
// each once.
func render(list []component) []byte {
	var out bytes.Buffer
	out.Write(notice(list))
	out.WriteString("\n" + rule + "Components and their licences\n" + rule + "\n")
	for _, c := range list {
		name := c.String()
		if c.Part != "" {
			name = "  " + name + ", in " + c.Part
		}
		fmt.Fprintf(&out, "%-86s %s\n", name, strings.Join(c.Licences, ", "))
	}
	for _, g := range grouped(list) {
		out.WriteString("\n" + rule)
		for _, of := range g.of {
			out.WriteString(of + "\n")
		}
		fmt.Fprintf(&out, "%s\n%s\n", rule, strings.TrimSpace(strings.ReplaceAll(g.text, "\r\n", "\n")))
	}
	return out.Bytes()
}

var rule = strings.Repeat("=", 100) + "\n"

// group is a text with the components that have it.
type group struct {
	text string
	of   []string
}

// grouped returns the texts of all components except notices, in the order of the first component
// that has each. Texts with the same words are merged.
func grouped(list []component) []*group {
	var order []*group
	known := map[string]*group{}
	for _, c := range list {
		for _, f := range c.Files {
			if noticeFile.MatchString(f.Name) {
				continue
			}
			words := plain(f.Text)
			if known[words] == nil {
				known[words] = &group{text: f.Text}
				order = append(order, known[words])
			}
			known[words].of = append(known[words].of, c.String()+": "+f.Name)
		}
	}
	return order
}
