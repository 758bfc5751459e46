package main

import (
	"go/types"
	"strings"
)

// maxMethods is the largest method set of a type. Embedded methods count: a reader of the type has
// them all in front of them.
const maxMethods = 40

// methodSets measures the method set of each type, as the compiler sees it.
func methodSets(p *program) []measure {
	var found []measure
	for _, pkg := range p.packages {
		if strings.HasSuffix(pkg.path, "test") {
			continue // a kit of tests
		}
		scope := pkg.types.Scope()
		for _, name := range scope.Names() {
			n := methodsOf(scope.Lookup(name))
			found = append(found, measure{rule: "method-set", key: pkg.path + "." + name, n: n, limit: maxMethods})
		}
	}
	return found
}

// methodsOf returns the size of the method set of a type's pointer, or of an interface; 0 for
// objects that are no types.
func methodsOf(o types.Object) int {
	name, ok := o.(*types.TypeName)
	if !ok || name.IsAlias() {
		return 0
	}
	t := name.Type()
	if !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	return types.NewMethodSet(t).Len()
}

// maxEmbedded is how many types a struct may embed: a type that is cut into embedded parts is as
// large to its reader as before.
const maxEmbedded = 2

// embeddedFields measures structs by the types that they embed.
func embeddedFields(p *program) []measure {
	var found []measure
	for _, pkg := range p.packages {
		scope := pkg.types.Scope()
		for _, name := range scope.Names() {
			n := embeddedIn(scope.Lookup(name))
			found = append(found, measure{rule: "embedded", key: pkg.path + "." + name, n: n, limit: maxEmbedded})
		}
	}
	return found
}

func embeddedIn(o types.Object) (n int) {
	name, ok := o.(*types.TypeName)
	if !ok || name.IsAlias() {
		return 0
	}
	if s, ok := name.Type().Underlying().(*types.Struct); ok {
		for field := range s.Fields() {
			if field.Embedded() {
				n++
			}
		}
	}
	return n
}
