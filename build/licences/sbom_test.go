package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var sampleLists = map[string][]component{
	"program": {
		{Kind: "easel", Name: "easel", Licences: []string{"Apache-2.0"}},
		{
			Kind: "golang", Name: "example.org/m", Version: "v1.2.3+incompatible",
			Licences: []string{"MIT", "BSD-3-Clause"},
		},
		{Name: "compiled", Licences: []string{"Zlib"}, Part: "example.org/m"},
	},
	"package": {
		{Kind: "easel", Name: "easel", Licences: []string{"Apache-2.0"}},
		{Kind: "npm", Name: "@scope/p", Version: "4.5.6", Licences: []string{"ISC"}},
	},
}

func TestSBOMs(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeSBOMs(dir, "0.1.0", sampleLists))
	read := func(name string) (text string) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(b)
	}
	require.JSONEq(t, `{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": {"component": {"type": "application", "bom-ref": "easel", "name": "easel", "version": "0.1.0",
			"licenses": [{"expression": "Apache-2.0"}]}},
		"components": [{
			"type": "library", "bom-ref": "pkg:golang/example.org/m@v1.2.3+incompatible", "name": "example.org/m",
			"version": "v1.2.3+incompatible", "purl": "pkg:golang/example.org/m@v1.2.3+incompatible",
			"licenses": [{"expression": "MIT AND BSD-3-Clause"}],
			"components": [{"type": "library", "bom-ref": "example.org/m#compiled", "name": "compiled",
				"licenses": [{"expression": "Zlib"}]}]
		}]
	}`, read("easel.cdx.json"))
	require.JSONEq(t, `{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": {"component": {"type": "library", "bom-ref": "@easel/engine", "name": "@easel/engine",
			"version": "0.1.0", "licenses": [{"expression": "Apache-2.0"}]}},
		"components": [{"type": "library", "bom-ref": "pkg:npm/%40scope/p@4.5.6", "name": "@scope/p",
			"version": "4.5.6", "purl": "pkg:npm/%40scope/p@4.5.6", "licenses": [{"expression": "ISC"}]}]
	}`, read("easel-engine-npm.cdx.json"))
}

func TestSBOMsOfInconsistentLists(t *testing.T) {
	part := component{Name: "compiled", Licences: []string{"Zlib"}, Part: "example.org/m"}
	_, err := document("program", "0.1.0", []component{part})
	require.EqualError(t, err, "list program: compiled is part of example.org/m, which is not listed before it")
	twice := component{Kind: "npm", Name: "p", Version: "1.0.0", Licences: []string{"MIT"}}
	_, err = document("package", "0.1.0", []component{twice, twice})
	require.EqualError(t, err, "list package: pkg:npm/p@1.0.0 is listed twice")
}
