//go:build fixture && !conformance

package main

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// A build with the tag fixture has an additional component. The palette, the form and the drawing
// of the page use only its description.

var extra = []engine.Spec{signpostSpec}

var signpostSpec = engine.Spec{
	Category: engine.CategoryFlow, Icon: "fork",
	Branches: []engine.Branch{{Param: "roads", To: "leads_to", Label: "Road"}, {Param: "home", Label: "Way home"}},
	Name:     "Signpost",
	Aliases:  []string{"OldSignpost"},
	Doc:      "Shows the way.",
	New:      func() engine.Component { return new(signpost) },
	Ignores:  []string{"paint"},
	StandIn:  func(args, _ engine.Value) (engine.Value, bool) { return engine.Object("echo", args), true },
}

// signpost continues with the nodes in home.
type signpost struct {
	Roads   engine.Value `json:"roads" doc:"list of {leads_to}"`
	Home    []string     `json:"home" doc:"ids of the nodes at home"`
	Writing engine.Text  `json:"writing_on_it" doc:"what it says"`
	Height  float64      `json:"height" doc:"metres above the ground" label:"Height (m)" default:"2" section:"advanced"`
	Plan    string       `json:"plan" doc:"how it is made" format:"code"`
}

// Choices returns the nodes in home.
func (s *signpost) Choices() [][]string { return [][]string{s.Home} }

// Run chooses the nodes in home.
func (s *signpost) Run(_ context.Context, call *engine.Call) error { return call.Next(s.Home) }
