package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// spot returns the position of a node.
func spot(t *testing.T, components, id string) (x, y, w, h int64) {
	t.Helper()
	doc, err := engine.ParseJSONText(components)
	require.NoError(t, err)
	n := arrange(doc, engine.Null).Get("nodes").Get(id)
	require.False(t, n.IsNull(), id)
	x, _ = n.Get("x").Int()
	y, _ = n.Get("y").Int()
	w, _ = n.Get("width").Int()
	h, _ = n.Get("height").Int()
	return
}

func TestLayout(t *testing.T) {
	const fork = `{"a":{"downstream":["b","c"]},"b":{"downstream":["d"]},"c":{"downstream":["d"]},` +
		`"d":{"downstream":["a"]}}`
	ax, _, _, _ := spot(t, fork, "a")
	bx, by, _, _ := spot(t, fork, "b")
	cx, cy, _, _ := spot(t, fork, "c")
	dx, _, _, _ := spot(t, fork, "d")
	require.Equal(t, int64(0), ax, "a cycle begins with its first node")
	require.Equal(t, bx, cx, "branches share a column")
	require.GreaterOrEqual(t, max(cy-by, by-cy), int64(nodeHeight+rowGap), "and do not lie upon each other")
	require.Greater(t, dx, bx)
}

func TestLayoutOfGroups(t *testing.T) {
	const group = `{"g":{"downstream":["z"]},"i":{"parent_id":"g","downstream":["j"]},"j":{"parent_id":"g"},"z":{}}`
	_, _, w, h := spot(t, group, "g")
	ix, iy, _, _ := spot(t, group, "i")
	jx, _, _, _ := spot(t, group, "j")
	zx, _, _, _ := spot(t, group, "z")
	require.Equal(t, []int64{groupPad, groupHead}, []int64{ix, iy}, "members stand inside, relative to the group")
	require.Equal(t, jx+nodeWidth+groupPad, w, "the group is as large as its members")
	require.Equal(t, int64(nodeHeight+groupHead+groupPad), h)
	require.Equal(t, w+columnGap, zx, "what follows stands behind it")
}

func TestLayoutOfOtherDocuments(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `"x"`, `{"a":3}`, `{"a":{"parent_id":"a","downstream":["a","nope",4]}}`,
		`{"a":{"parent_id":"b"},"b":{"parent_id":"a"}}`,
	} {
		doc, err := engine.ParseJSONText(text)
		require.NoError(t, err)
		require.Equal(t, doc.Kind() == engine.KindObject && doc.Len() > 0,
			arrange(doc, engine.Null).Get("nodes").Len() > 0, text)
	}
}

func TestLayoutFollowsBranchesThatStandInParamsOnly(t *testing.T) {
	const fork = `{"s":{"obj":{"params":{"conditions":[{"to":["a"]}],"end_cpn_ids":["b"],"exception_goto":"c"}}},` +
		`"a":{},"b":{},"c":{}}`
	for _, id := range []string{"a", "b", "c"} {
		x, _, _, _ := spot(t, fork, id)
		require.Equal(t, int64(nodeWidth+columnGap), x, id)
	}
}

func TestLayoutMindsSizes(t *testing.T) {
	doc, err := engine.ParseJSONText(`{"a":{"downstream":["b","c"]},"b":{},"c":{}}`)
	require.NoError(t, err)
	sizes, err := engine.ParseJSONText(`{"a":[300,50],"b":[10,400],"c":["wide",-1]}`)
	require.NoError(t, err)
	nodes := arrange(doc, sizes).Get("nodes")
	bx, _ := nodes.Get("b").Get("x").Int()
	by, _ := nodes.Get("b").Get("y").Int()
	cy, _ := nodes.Get("c").Get("y").Int()
	require.Equal(t, int64(300+columnGap), bx)
	require.Equal(t, int64(400+rowGap), cy-by, "what is no size counts as none")
}

func TestLayoutLeavesRoomForLongEdges(t *testing.T) {
	const around = `{"a":{"downstream":["b","d"]},"b":{"downstream":["c"]},"c":{"downstream":["d"]},"d":{}}`
	_, ay, _, _ := spot(t, around, "a")
	_, by, _, _ := spot(t, around, "b")
	_, dy, _, _ := spot(t, around, "d")
	line := (ay + dy + nodeHeight) / 2 // about the height of the edge a -> d at b
	require.True(t, line < by || line > by+nodeHeight, "b stands at %d to %d, the edge at %d", by, by+nodeHeight, line)
}

func TestLayoutUncrosses(t *testing.T) {
	const crossed = `{"a":{"downstream":["y"]},"b":{"downstream":["x"]},"x":{},"y":{}}`
	_, ay, _, _ := spot(t, crossed, "a")
	_, by, _, _ := spot(t, crossed, "b")
	_, xy, _, _ := spot(t, crossed, "x")
	_, yy, _, _ := spot(t, crossed, "y")
	require.Equal(t, ay < by, yy < xy)
}

// For any document, every node gets one place, in document order.
func FuzzLayout(f *testing.F) {
	for _, text := range []string{
		`{"a":{"downstream":["b","a"]},"b":{"parent_id":"a","downstream":["c"]},"c":{"parent_id":"b"}}`,
		`{"":{"downstream":[""]},"__proto__":{"obj":{"params":{"to":["",["x"]],"end_cpn_ids":"__proto__"}}}}`,
		`{"a":{"downstream":["b","c"]},"b":{"downstream":["d"]},"c":{"downstream":["d","e"]},` +
			`"d":{"downstream":["e"]},"e":{}}`,
	} {
		f.Add(text, `{"a":[1e300,-5],"b":["x"],"c":[3,4]}`)
	}
	f.Fuzz(func(t *testing.T, components, sizes string) {
		doc, err := engine.ParseJSONText(components)
		if err != nil || doc.Kind() != engine.KindObject {
			t.Skip()
		}
		large, err := engine.ParseJSONText(sizes)
		if err != nil {
			large = engine.Null
		}
		nodes := arrange(doc, large).Get("nodes")
		require.Equal(t, doc.Len(), nodes.Len())
		i := 0
		for id, place := range nodes.Fields() {
			require.Equal(t, doc.Key(i), id)
			x, okX := place.Get("x").Int()
			y, okY := place.Get("y").Int()
			require.True(t, okX && okY && x > -1e12 && x < 1e12 && y > -1e12 && y < 1e12, "%s stands at %d, %d", id, x,
				y)
			i++
		}
	})
}
