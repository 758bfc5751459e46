// Package place describes which components run where: in the command (cli), on a server, in the
// page.
//
// The result follows from the description of a component (its port, its stand-in, its missing
// requirements), from the built-in tools, and from the ports that a place lacks. No component is
// named here.
package place

import (
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/tools"
	"github.com/easel-canvas/easel/host/internal/tools/native"
)

// State is the availability of a component at a place.
type State string

// The states of a component.
const (
	Runs    State = "runs"     // it works
	Needs   State = "needs"    // it fails when it is reached; Status.Needs names the requirement
	StandIn State = "stand-in" // it returns invented outputs
)

// Status is the state of a component at a place.
type Status struct {
	State State
	Needs string // the missing requirement, for Needs
}

func (s Status) String() string {
	if s.State == Needs {
		return "needs: " + s.Needs
	}
	return string(s.State)
}

// Value returns {state, needs?}.
func (s Status) Value() engine.Value {
	b := engine.NewObject(2).Set("state", engine.String(string(s.State)))
	if s.Needs != "" {
		b.Set("needs", engine.String(s.Needs))
	}
	return b.Value()
}

// Place is an environment in which canvases run.
type Place struct {
	Name string
	// Languages are the languages of scripts.
	Languages []string
	// empty are the ports that this place lacks by default, with the setting that provides them.
	empty map[string]string
	// pretends are the ports with invented answers.
	pretends map[string]bool
}

// languages of scripts. Python requires an interpreter, which has a separate diagnostic.
var languages = []string{"javascript", "python"}

// All lists the places.
func All() []*Place {
	return []*Place{
		{Name: "cli", Languages: languages, empty: map[string]string{"Retriever": "--knowledge DIR"}},
		{Name: "server", Languages: languages},
		{
			Name: "page", Languages: languages,
			pretends: map[string]bool{"Tools": true, "Retriever": true},
		},
	}
}

// Named finds a place.
func Named(name string) (*Place, error) {
	var names []string
	for _, p := range All() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("unknown place %q; accepted are %s", name, strings.Join(names, ", "))
}

// With returns the place with a port added.
func (p *Place) With(port string) *Place {
	out := *p
	out.empty = map[string]string{}
	for name, needs := range p.empty {
		if name != port {
			out.empty[name] = needs
		}
	}
	return &out
}

// Status returns the status of a component here.
func (p *Place) Status(s *engine.Spec) Status {
	if s.Missing != "" {
		return Status{Needs, s.Missing}
	}
	acts, ok := s.New().(interface{ Needs() string })
	if !ok {
		return Status{State: Runs}
	}
	port := acts.Needs()
	switch needs, empty := p.empty[port]; {
	case empty:
		return Status{Needs, needs}
	case p.pretends[port] && (port != "Tools" || s.StandIn != nil):
		return Status{State: StandIn}
	case p.pretends[port]:
		return Status{Needs, "a host"}
	case port == "Tools" && !tools.Offers(s.Name) && !native.Serves(s.Name):
		return Status{Needs, "a program that sets the engine's port " + port + " for it"}
	}
	return Status{State: Runs}
}

// Runs reports whether scripts in a language run here.
func (p *Place) Runs(language string) bool {
	for _, l := range p.Languages {
		if l == language {
			return true
		}
	}
	return false
}
