package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// bom is a CycloneDX document, https://cyclonedx.org/docs/1.6/json/. It has neither a time nor a
// serial number, so that the same sources produce the same bytes.
type bom struct {
	Format   string    `json:"bomFormat"`
	Spec     string    `json:"specVersion"`
	Version  int       `json:"version"`
	Metadata metadata  `json:"metadata"`
	Parts    []bomPart `json:"components"`
}

type metadata struct {
	Component bomPart `json:"component"`
}

type bomPart struct {
	Type     string       `json:"type"`
	Ref      string       `json:"bom-ref"`
	Name     string       `json:"name"`
	Version  string       `json:"version,omitempty"`
	Licences []bomLicence `json:"licenses"`
	URL      string       `json:"purl,omitempty"`
	Parts    []bomPart    `json:"components,omitempty"`
}

type bomLicence struct {
	Expression string `json:"expression"`
}

// described maps each list with a CycloneDX document to the artifact that the document describes.
var described = map[string]struct{ kind, name, file string }{
	"program": {"application", "easel", "easel.cdx.json"},
	"package": {"library", "@easel/engine", "easel-engine-npm.cdx.json"},
}

// writeSBOMs writes one document for the program and one for the npm package.
func writeSBOMs(dir, version string, lists map[string][]component) error {
	for list, what := range described {
		doc, err := document(list, version, lists[list])
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(doc, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, what.file), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// document returns a list of components as the document of its artifact.
func document(list, version string, components []component) (bom, error) {
	what := described[list]
	doc := bom{Format: "CycloneDX", Spec: "1.6", Version: 1}
	refs := map[string]bool{}
	for _, c := range components {
		p := describe(c)
		if c.Name == "easel" {
			p.Type, p.Name, p.Version, p.Ref = what.kind, what.name, version, what.name
		}
		if refs[p.Ref] {
			return bom{}, fmt.Errorf("list %s: %s is listed twice", list, p.Ref)
		}
		refs[p.Ref] = true
		switch {
		case c.Name == "easel":
			doc.Metadata.Component = p
		case c.Part != "":
			i := slices.IndexFunc(doc.Parts, func(whole bomPart) bool { return whole.Name == c.Part })
			if i < 0 {
				return bom{}, fmt.Errorf("list %s: %s is part of %s, which is not listed before it",
					list, c.Name, c.Part)
			}
			doc.Parts[i].Parts = append(doc.Parts[i].Parts, p)
		default:
			doc.Parts = append(doc.Parts, p)
		}
	}
	return doc, nil
}

// describe returns a component in CycloneDX form.
func describe(c component) bomPart {
	licences := []bomLicence{{strings.Join(c.Licences, " AND ")}}
	p := bomPart{Type: "library", Name: c.Name, Version: c.Version, Licences: licences}
	switch {
	case c.Part != "":
		p.Ref = c.Part + "#" + c.Name
	case c.Kind == "golang":
		p.URL = "pkg:golang/" + c.Name + "@" + url.PathEscape(c.Version)
	case c.Kind == "npm":
		p.URL = "pkg:npm/" + strings.Replace(c.Name, "@", "%40", 1) + "@" + c.Version
	case c.Name == goName:
		p.Version = strings.TrimPrefix(runtime.Version(), "go")
		p.URL = "pkg:golang/std@" + p.Version
	}
	if p.Ref == "" {
		p.Ref = or(p.URL, p.Name)
	}
	return p
}
