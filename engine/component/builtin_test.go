package component_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestBuiltinIsDescribed(t *testing.T) {
	for _, s := range component.Builtin() {
		t.Run(s.Name, func(t *testing.T) {
			require.NotEmpty(t, s.Doc)
			require.True(t, strings.HasSuffix(s.Doc, "."), "a doc is a sentence: %s", s.Doc)
			for name, p := range s.Schema().Get("properties").Fields() {
				require.NotEmpty(t, p.Get("description").Str(), "param %s has no doc", name)
			}
		})
	}
}

func TestBuiltinLoadsWithoutParamsOrSaysWhatIsMissing(t *testing.T) {
	for _, s := range component.Builtin() {
		t.Run(s.Name, func(t *testing.T) {
			if s.Name == "Begin" {
				return
			}
			_, err := engine.Load(registry(t), sketch.Bytes("begin Begin", "X "+s.Name))
			if err == nil {
				return
			}
			var param *engine.ParamError
			require.ErrorAs(t, err, &param)
			require.Equal(t, "X", param.Node)
			require.NotEmpty(t, param.Param)
		})
	}
}

func TestNamesOfTheFirstCanvases(t *testing.T) {
	for alias, name := range map[string]string{
		"Answer": "Message", "UserFillup": "UserFillUp", "userfillup": "UserFillUp", "Generate": "LLM",
	} {
		s, err := registry(t).Lookup(alias)
		require.NoError(t, err)
		require.Equal(t, name, s.Name)
	}
}
