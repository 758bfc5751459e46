package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// contents lists the npm packages in the outputs of build/bundle.
type contents struct{ Page, Package []string }

func bundled() (contents, error) {
	cmd := exec.Command("go", "run", "./build/bundle", "-packages")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return contents{}, fmt.Errorf("build/bundle -packages: %w (run `npm ci` in web and wasm/js)", err)
	}
	var c contents
	return c, json.Unmarshal(out, &c)
}

// npmPackages describes packages that are installed below a folder. Dependencies of wasm/js are
// installed only there.
func npmPackages(c *classifier, folder string, names []string) ([]component, error) {
	var list []component
	var failed []error
	for _, name := range names {
		dir := filepath.Join(folder, "node_modules", name)
		if _, err := os.Stat(dir); err != nil {
			dir = filepath.Join("wasm/js", "node_modules", name)
		}
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			return nil, err
		}
		p := component{Kind: "npm"}
		if err := json.Unmarshal(text, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if err := p.readPackage(c, dir); err != nil {
			failed = append(failed, err)
		}
		list = append(list, p)
	}
	return list, errors.Join(failed...)
}

// readPackage finds the licences of an npm package in its folder, or the one that parts.go has.
func (c *component) readPackage(classify *classifier, dir string) error {
	name, ok := supplied[c.Name+"@"+c.Version]
	if !ok {
		return c.read(classify, dir, map[string]bool{dir: true})
	}
	text, err := texts.ReadFile("texts/" + name)
	if err != nil {
		return err
	}
	return c.add(classify, file{name, string(text)})
}
