package profile

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

var update = flag.Bool("update", false, "rewrite the profiles of the cases")

// example is a case; the page is tested with the same file.
type example struct {
	Name    string            `json:"name"`
	Graph   Graph             `json:"graph"`
	Events  []json.RawMessage `json:"events"`
	Profile Profile           `json:"profile"`
}

func (e *example) compute(t *testing.T) Profile {
	var events []engine.Value
	for _, text := range e.Events {
		v, err := engine.ParseJSON(text)
		require.NoError(t, err)
		events = append(events, v)
	}
	return Of(events, e.Graph)
}

const casesFile = "testdata/cases.json"

func readCases(t *testing.T) []example {
	data, err := os.ReadFile(casesFile)
	require.NoError(t, err)
	var all []example
	require.NoError(t, json.Unmarshal(data, &all))
	return all
}

func TestCases(t *testing.T) {
	all := readCases(t)
	if *update {
		for i := range all {
			all[i].Profile = all[i].compute(t)
		}
		var b bytes.Buffer
		b.WriteString("[\n")
		for i := range all {
			line, err := json.Marshal(all[i])
			require.NoError(t, err)
			b.Write(line)
			if i < len(all)-1 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString("]\n")
		require.NoError(t, os.WriteFile(casesFile, b.Bytes(), 0o644))
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) { require.Equal(t, c.Profile, c.compute(t)) })
	}
}

// The expected numbers, calculated by hand.
func TestNumbersOfCases(t *testing.T) {
	type numbers struct {
		wall, critical, work, queued, saved float64
		slots                               int
		path                                []string
	}
	want := map[string]numbers{
		"branches in batches": {6.5, 4.5, 8.5, 0, 0, 2, []string{"begin", "A1", "A2", "Join"}},
		"one slot of a model": {2, 1, 2, 1, 1, 1, []string{"begin", "B", "Join"}},
		"turns of a body": {
			3.5, 3.5, 3.5, 0, 0, 1,
			[]string{"begin", "Item", "Work", "Item", "Work", "After"},
		},
		"streams with their readers": {3, 2, 3, 0, 1, 1, []string{"begin", "B", "SayB"}},
		"items at the same time, and an agent with tools": {
			4, 4, 7, 0, 0, 2,
			[]string{"begin", "Item", "Agent", "Item", "Agent", "Message"},
		},
		"one slot of the run, taken before the node starts": {3, 2, 3, 1, 1, 1, []string{"begin", "B", "Join"}},
		"node behind an error handler":                      {3, 3, 3, 0, 0, 1, []string{"begin", "A", "Rescue"}},
		"nothing has finished":                              {},
	}
	for _, c := range readCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			p := c.compute(t)
			got := numbers{p.Wall, p.Critical, p.Work, p.Queued, p.Saved, p.Slots, nil}
			for _, s := range p.Path {
				got.path = append(got.path, s.Node)
			}
			require.Equal(t, want[c.Name], got)
		})
	}
}
