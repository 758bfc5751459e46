package main

import (
	"go/ast"
	"regexp"
	"strings"
)

var (
	// vague has words that say too little as part of a name. They are counted without a limit, as
	// some are right in their place: left of a pair, a box on a canvas.
	vague = wordSet("asked begun bell box desk face given held kept left said shelf toil told trail worldly")
	// superlative begins names of limits for which Go says max and min.
	superlative = wordSet("most least longest largest")

	wordOfName = regexp.MustCompile(`[A-Z]?[a-z0-9]+|[A-Z]+`)
)

// naming counts the names that Go code declares, tests apart.
type naming struct{ all, vague, superlative int }

func namingOf(p *program) (n naming) {
	for _, pkg := range p.packages {
		for _, file := range pkg.files {
			ast.Inspect(file, func(node ast.Node) bool {
				if id, ok := node.(*ast.Ident); ok && pkg.uses[id] == nil && id.Name != "_" {
					n.add(id.Name)
				}
				return true
			})
		}
	}
	return n
}

func (n *naming) add(name string) {
	n.all++
	for i, word := range wordOfName.FindAllString(name, -1) {
		word = strings.ToLower(word)
		if i == 0 && superlative[word] {
			n.superlative++
		}
		if vague[word] {
			n.vague++
			return
		}
	}
}

func (n naming) per1000(count int) float64 { return 1000 * float64(count) / float64(max(1, n.all)) }

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}
