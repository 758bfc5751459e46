package engine

import "strings"

// principalName is the variable that holds who started a run. Only [Options].Principal sets it: it
// is not part of a document or of its state, so that neither an imported canvas, an earlier turn
// nor a node can claim another principal.
const principalName = "sys.principal"

// localPrincipal is who starts runs outside of a host.
var localPrincipal = Object("kind", "local", "id", "", "user", "", "end_user", "")

// isPrincipal reports whether a global is sys.principal or a member of it.
func isPrincipal(name string) bool {
	rest, ok := strings.CutPrefix(name, principalName)
	return ok && (rest == "" || rest[0] == '.')
}

// globalsOf reads the variables of a document.
func globalsOf(doc Value) bucket {
	var b bucket
	for k, x := range doc.Get("globals").Fields() {
		if !isPrincipal(k) {
			b.put(k, x)
		}
	}
	return b
}

// principalMember returns sys.principal, of which v is the value, or the member that a reference
// names.
func principalMember(v Value, name string) Value {
	if v.IsNull() {
		v = localPrincipal
	}
	if path := strings.TrimPrefix(name, principalName); path != "" {
		return Walk(v, strings.Split(path[1:], "."))
	}
	return v
}
