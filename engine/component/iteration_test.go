package component_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestIteration(t *testing.T) {
	tests := []struct {
		name, items, outputs string
		body                 []string
		want                 string
	}{
		{
			name: "one turn per element, collected", items: `["a", "b"]`, outputs: `{"out": {"ref": "S@result"}}`,
			body: []string{
				`II IterationItem -> S ^ X`,
				`S StringTransform {"method": "merge", "script": "{II@index}{II@item}"} ^ X`,
			},
			want: `{"out":["0a","1b"]}`,
		}, {
			name: "short names", items: `["a", "b"]`, outputs: `{"out": {"ref": "S@result"}}`,
			body: []string{
				`II IterationItem -> S ^ X`,
				`S StringTransform {"method": "merge", "script": "{index}{item}{{result}}{II@result}` +
					`{ITEM}{item.x}"} ^ X`,
			},
			want: `{"out":["0aaa{ITEM}{item.x}","1bbb{ITEM}{item.x}"]}`,
		}, {
			name: "short names of the nearest body", items: `[["a"], ["b", "c"]]`, outputs: `{"out": {"ref": "Y@in"}}`,
			body: []string{
				`II IterationItem -> Y ^ X`,
				`Y Iteration {"items_ref": "II@item", "outputs": {"in": {"ref": "S@result"}}} ^ X`,
				`JJ IterationItem -> S ^ Y`,
				`S StringTransform {"method": "merge", "script": "{item}"} ^ Y`,
			},
			want: `{"out":[["a"],["b","c"]]}`,
		}, {
			name: "short names in a loop of the body", items: `["a", "b"]`, outputs: `{"out": {"ref": "T@result"}}`,
			body: []string{
				`II IterationItem -> Y ^ X`,
				`Y Loop {"maximum_loop_count": 1, "loop_variables": [{"variable": "n", "input_mode": "constant", ` +
					`"value": 0, "type": "number"}]} -> T ^ X`,
				`T StringTransform {"method": "merge", "script": "{S@result}"} ^ X`,
				`JJ LoopItem -> S ^ Y`,
				`S StringTransform {"method": "merge", "script": "{index}{item}"} ^ Y`,
			},
			want: `{"out":["0a","1b"]}`,
		}, {
			name: "another version's name is collected", items: `["a"]`, outputs: `{"out": {"ref": "II@result"}}`,
			body: []string{`II IterationItem -> S ^ X`, `S StringTransform {"method": "merge", "script": "x"} ^ X`},
			want: `{"out":["a"]}`,
		}, {
			name: "elements keep their kind", items: `[1.50, null, {"k": []}]`, outputs: `{"out": {"ref": "II@item"}}`,
			body: []string{`II IterationItem -> S ^ X`, `S StringTransform {"method": "merge", "script": "x"} ^ X`},
			want: `{"out":[1.50,null,{"k":[]}]}`,
		}, {
			name: "an empty list leaves null", items: `[]`, outputs: `{"out": {"ref": "S@result"}}`,
			body: []string{`II IterationItem -> S ^ X`, `S StringTransform {"method": "merge", "script": "x"} ^ X`},
			want: `{"out":null}`,
		}, {
			name: "a node outside of the body is not collected", items: `["a"]`,
			outputs: `{"out": {"ref": "begin@items"}, "in": {"ref": "S@result"}}`,
			body:    []string{`II IterationItem -> S ^ X`, `S StringTransform {"method": "merge", "script": "x"} ^ X`},
			want:    `{"out":null,"in":["x"]}`,
		}, {
			name: "a branch not taken gives its value of an earlier turn", items: `["a", "b"]`,
			outputs: `{"out": {"ref": "S@result"}}`,
			body: []string{
				`II IterationItem -> W ^ X`,
				`W Switch {"conditions": [{"items": [{"cpn_id": "II@item", "operator": "=", "value": "a"}], "to": ` +
					`["S"]}], "end_cpn_ids": ["T"]} ^ X`,
				`S StringTransform {"method": "merge", "script": "s{II@item}"} ^ X`,
				`T StringTransform {"method": "merge", "script": "t"} ^ X`,
			},
			want: `{"out":["sa","sa"]}`,
		}, {
			name: "an ExitLoop is just an end of the turn", items: `["a", "b"]`,
			outputs: `{"out": {"ref": "II@index"}}`,
			body:    []string{`II IterationItem -> E ^ X`, `E ExitLoop ^ X`},
			want:    `{"out":[0,1]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `Iteration {"items_ref": "begin@items", "outputs": `+tt.outputs+`}`, `{"items": `+tt.items+`}`,
				tt.body...)
			require.NoError(t, s.err)
			require.Equal(t, tt.want, s.outputs["X"].JSON())
		})
	}
}

func TestIterationStartsAgain(t *testing.T) {
	s := play(t, engine.Input{Inputs: value(t, `{"items": [["a", "b"], [], ["c"]]}`)}, engine.Ports{},
		`begin Begin -> O`,
		`O Iteration {"items_ref": "begin@items", "outputs": {"out": {"ref": "I@out"}}} -> M`,
		`OI IterationItem -> I ^ O`,
		`I Iteration {"items_ref": "OI@item", "outputs": {"out": {"ref": "S@result"}}} ^ O`,
		`II IterationItem -> S ^ I`,
		`S StringTransform {"method": "merge", "script": "{II@index}{II@item}"} ^ I`,
		`M Message {"content": "{O@out}"}`)
	require.NoError(t, s.err)
	require.Equal(t, `[["0a", "1b"], null, ["0c"]]`, s.said)
}

func TestIterationItemGivesResultWhereDeclared(t *testing.T) {
	s := one(t, `Iteration {"items_ref": "begin@items"}`, `{"items": [7]}`,
		`II IterationItem {"outputs": {"result": {"type": "any"}}} -> M ^ X`,
		`M Message {"content": "{II@result}"} ^ X`)
	require.Equal(t, "7", s.said)
	require.Equal(t, `{"result":7,"item":7,"index":0}`, s.outputs["II"].JSON())
}

func TestIterationErrors(t *testing.T) {
	for ref, want := range map[string]string{
		`begin@none`: "items_ref {begin@none} must be a list, but it is a null",
		`sys.query`:  "must be a list, but it is a string",
		`Nope@x`:     "Can't find variable: 'Nope@x'",
		``:           "items_ref is empty",
	} {
		s := one(t, `Iteration {"items_ref": "`+ref+`"}`, `{"none": null}`, `II IterationItem ^ X`)
		require.ErrorContains(t, s.err, want)
		require.Equal(t, []string{"begin", "X"}, s.order)
	}
	s := one(t, `IterationItem`, `{}`)
	require.ErrorContains(t, s.err, "needs an Iteration as parent")
}

func TestIterationTakesLongLists(t *testing.T) {
	count := 20_000
	if testing.Short() {
		count = 2_000
	}
	items := "[" + strings.Repeat("1,", count-1) + "1]"
	s := one(t, `Iteration {"items_ref": "begin@items", "outputs": {"out": {"ref": "II@item"}}}`,
		`{"items": `+items+`}`,
		`II IterationItem -> S ^ X`, `S StringTransform {"method": "merge", "script": "x"} ^ X`)
	require.NoError(t, s.err, "moving through items does not use up the step cap")
	require.Equal(t, count, s.outputs["X"].Get("out").Len())
}

// A short name outside of the body stays text, which Validate notes where the canvas has a body.
func TestShortNamesOutsideOfTheBody(t *testing.T) {
	reg := registry(t)
	body := []string{
		`begin Begin {"inputs": {"l": {}}} -> X`, `X Iteration {"items_ref": "begin@l"} -> M`,
		`II IterationItem -> N ^ X`, `N Message {"content": ["{item}"]} ^ X`,
	}
	notes := func(message string) (list []string) {
		for _, d := range engine.Validate(reg, sketch.Bytes(append(body, message)...)) {
			if d.Code == engine.CodeBadReference {
				list = append(list, d.Node+": "+d.Message)
			}
		}
		return list
	}
	require.Empty(t, notes(`M Message {"content": ["done"]}`))
	require.Equal(t, []string{
		"M: {item} stays text here: only nodes in the body of an Iteration have it; name the node too, as in {id@item}",
	}, notes(`M Message {"content": ["{item}", "{item}"]}`))
	require.Empty(t, notes(`M Message {"content": ["{% for item in [1] %}{{item}}{% endfor %}"]}`))
}
