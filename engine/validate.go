package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/nearest"
)

// Validate lists all problems of a document: those that Load refuses, and those that would make a
// run fail or not finish. A document without errors in the list loads. The list is empty for a
// document without problems.
func Validate(reg *Registry, dsl []byte) []Diagnostic {
	doc, err := ParseJSON(dsl)
	if err != nil {
		return []Diagnostic{diagnosticOf(err)}
	}
	doc, problems, err := complete(reg, doc)
	if err != nil {
		return []Diagnostic{diagnosticOf(err)}
	}
	return validate(reg, doc, problems...)
}

// Validate lists the problems of a canvas that loads.
func (c *Canvas) Validate() []Diagnostic { return validate(c.registry, c.doc) }

func validate(reg *Registry, doc Value, problems ...error) []Diagnostic {
	v := newValidator(nil)
	for _, err := range problems {
		v.note(diagnosticOf(err))
	}
	v.Canvas, _ = load(reg, doc, v.refuse) // refuse lets it continue to its end
	checkOwnSettings(v)
	v.checkSettings()
	v.checkEdges()
	v.checkBodies()
	v.checkCycles()
	v.checkOrder()
	v.checkReferences()
	v.checkReachable()
	return v.found
}

// validator inspects a canvas that was loaded as far as possible.
type validator struct {
	*Canvas
	found   []Diagnostic
	noted   map[Diagnostic]struct{} // those in found
	guesses int                     // words that may still be compared for "did you mean"
}

func newValidator(c *Canvas) *validator {
	return &validator{Canvas: c, noted: map[Diagnostic]struct{}{}, guesses: maxGuesses}
}

// refuse records a problem that prevents loading.
func (v *validator) refuse(err error) error {
	v.note(diagnosticOf(err))
	return nil
}

// mostArgument is the number of bytes of an argument that a diagnostic shows: all of a text of
// ours, a part of an id or a parameter.
const mostArgument = 400

// add adds a diagnostic of a node.
func (v *validator) add(n *node, severity Severity, code, param, format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = shorten(text, mostArgument)
		}
	}
	v.note(Diagnostic{
		Severity: severity, Code: code, Message: fmt.Sprintf(format, args...), Node: n.id, Param: param, Name: n.name,
	})
}

// note adds a diagnostic, once.
func (v *validator) note(d Diagnostic) {
	if d.Code == CodeNeedsHost && v.registry.Host {
		return
	}
	if _, twice := v.noted[d]; twice {
		return
	}
	v.noted[d] = struct{}{}
	v.found = append(v.found, d)
}

// maxGuesses bounds the search for similar words in a document with many mistakes.
const maxGuesses = 200_000

// guess ends a message with the known name that was most likely meant, if there is one. Behind the
// same qualifier, LLM: or env., only the rest is compared: "LLM:B" is no misspelt "LLM:A".
func (v *validator) guess(name string, known []string) string {
	if v.guesses -= len(known); v.guesses < 0 {
		return ""
	}
	qualifier := name[:strings.LastIndexAny(name, ":.")+1]
	var rests, others []string
	for _, k := range known {
		if rest, ok := strings.CutPrefix(k, qualifier); ok {
			rests = append(rests, rest)
		} else {
			others = append(others, k)
		}
	}
	if rest, ok := nearest.Match(name[len(qualifier):], rests); ok {
		return fmt.Sprintf("; did you mean %q?", brief(qualifier+rest))
	}
	if meant, ok := nearest.Match(name, others); ok {
		return fmt.Sprintf("; did you mean %q?", brief(meant))
	}
	return ""
}

// checkOwnSettings warns of settings of the canvas that nothing reads.
func checkOwnSettings(v *validator) {
	for name := range v.doc.Get("settings").Fields() {
		if !slices.Contains(settingNames, name) {
			v.note(Diagnostic{
				Severity: SeverityWarning, Code: CodeUnknownParam, Param: "settings." + shorten(name, mostArgument),
				Message: "unknown setting of the canvas, which has no effect" + v.guess(name, settingNames),
			})
		}
	}
}

// checkSettings checks each node alone.
func (v *validator) checkSettings() {
	for i := range v.nodes {
		n := &v.nodes[i]
		if n.off {
			continue
		}
		if n.spec.Missing != "" {
			v.add(n, SeverityError, CodeUnsupported, "", "%s does not run here: %s", n.spec.Name, n.spec.Missing)
		}
		unknown, known := n.unknownParams()
		for _, name := range unknown {
			v.add(n, SeverityWarning, CodeUnknownParam, name,
				"unknown parameter, which has no effect%s", v.guess(name, known))
		}
		for _, tool := range n.tools {
			unknown, known := tool.unknownParams()
			for _, name := range unknown {
				v.add(n, SeverityWarning, CodeUnknownParam, "tools", "%s: unknown parameter %q, which has no effect%s",
					tool.name, name, v.guess(name, known))
			}
		}
		v.checkRequirements(n)
		checkShortNames(v, n)
		if n.common.ExceptionMethod == "goto" && len(n.common.ErrorTargets()) == 0 && n.common.ErrorDefault().IsNull() {
			v.add(n, SeverityError, CodeUnknownTarget, "exception_goto",
				"an error leads nowhere: name the nodes that run after it, or set exception_default_value")
		}
		if w, ok := n.comp.(Warner); ok {
			for _, d := range w.Warnings() {
				v.add(n, cmp.Or(d.Severity, SeverityWarning), d.Code, d.Param, "%s", d.Message)
			}
		}
	}
}

// checkRequirements warns of requirements of a node or its tools that this host does not meet.
func (v *validator) checkRequirements(n *node) {
	if v.registry.Missing == nil {
		return
	}
	for _, of := range append([]*node{n}, n.tools...) {
		r, ok := of.comp.(Requirer)
		if !ok {
			continue
		}
		for _, name := range r.Requires() {
			if err := v.registry.Missing(name); err != nil {
				v.add(n, SeverityWarning, CodeNotAvailable, "", "%s", err)
			}
		}
	}
}

// checkShortNames warns of short names that are text because of where the node stands.
func checkShortNames(v *validator, n *node) {
	for i, name := range n.loose {
		if slices.Contains(n.loose[:i], name) {
			continue
		}
		v.add(n, SeverityWarning, CodeBadReference, "",
			"{%s} stays text here: only nodes in the body of an Iteration have it; name the node too, as in {id@%s}",
			name, name)
	}
}

// checkReferences reports unresolved references.
func (v *validator) checkReferences() {
	for i := range v.nodes {
		n := &v.nodes[i]
		seen := map[string]bool{}
		for _, r := range n.refs {
			if seen[r.Expr] || n.off {
				continue
			}
			seen[r.Expr] = true
			if r.Node != "" {
				v.nodeReference(n, r)
				continue
			}
			if !v.knowsVariable(r.Expr) {
				v.add(n, SeverityError, CodeBadReference, "",
					"{%s}: no such variable%s", r.Expr, v.guess(r.Expr, v.variables()))
			}
		}
	}
}

// sysVariables exist in every run.
var sysVariables = []string{"query", "user_id", "principal", "conversation_turns", "files", "history", "date"}

// knowsVariable reports whether a global exists, or one that the expression is a path into. A text
// that may be a reference counts as known.
func (v *validator) knowsVariable(expr string) bool {
	prefix, rest, _ := strings.Cut(expr, ".")
	root, _, _ := strings.Cut(rest, ".")
	globals := v.doc.Get("globals")
	if globals.find(expr) >= 0 || globals.find(prefix+"."+root) >= 0 {
		return true
	}
	switch prefix {
	case "sys":
		return slices.Contains(sysVariables, root)
	case "env":
		return v.env.find(root) >= 0
	}
	return true
}

// variables returns the names of all variables of the conversation.
func (v *validator) variables() []string {
	var names []string
	for _, name := range sysVariables {
		names = append(names, "sys."+name)
	}
	for name := range v.doc.Get("globals").Fields() {
		names = append(names, name)
	}
	for name := range v.env.Fields() {
		names = append(names, "env."+name)
	}
	return names
}

func (v *validator) nodeReference(n *node, r *Ref) {
	at, ok := v.index[r.Node]
	if !ok {
		if strings.Contains(r.Node, ":") || isReferenceID(r.Node) {
			v.add(n, SeverityError, CodeBadReference, "",
				"{%s}: no component %q in this canvas%s", r.Expr, r.Node, v.guess(r.Node, v.Nodes()))
		}
		return
	}
	target := &v.nodes[at]
	if target.off {
		v.add(n, SeverityWarning, CodeSwitchedOff, "", "{%s}: %s is switched off, so this is empty", r.Expr, r.Node)
		return
	}
	if len(target.spec.Outputs) == 0 || r.Output == errorOutput {
		return
	}
	if slices.ContainsFunc(target.spec.Outputs, func(f Field) bool { return f.Name == r.Output || f.Name == "*" }) {
		return
	}
	if target.params.Get("outputs").find(r.Output) >= 0 || strings.HasPrefix(r.Output, "_") {
		return
	}
	v.add(n, SeverityWarning, CodeUnknownOutput, "", "{%s}: %s has no output %q%s",
		r.Expr, r.Node, r.Output, v.guess(r.Output, target.outputNames()))
}

// outputNames returns the outputs a node may have.
func (n *node) outputNames() []string {
	var names []string
	for _, f := range n.spec.Outputs {
		names = append(names, f.Name)
	}
	for name := range n.params.Get("outputs").Fields() {
		names = append(names, name)
	}
	return names
}

// isReferenceID distinguishes a reference from a text that merely contains an @, such as a mail
// address or a model id.
func isReferenceID(id string) bool { return strings.EqualFold(id, StartID) }
