package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// Numbers keep their text, so their types follow from their digits: a float64 holds neither 1e400
// nor the fraction of 9007199254740992.5.
func TestNumbersOfAnySizeHaveTheirTypes(t *testing.T) {
	for text, whole := range map[string]bool{
		"0": true, "-1": true, "1.0": true, "-0.0": true, "12e-1": false, "120e-1": true, "1.5": false, "0.0e9": true,
		"9007199254740993": true, "123456789012345678901234567890": true, "1e400": true, "1.5e1": true,
		"9007199254740992.5": false, "1e-400": false, "1e99999999999999999999": true,
	} {
		v, err := engine.ParseJSONText(text)
		require.NoError(t, err)
		require.Equal(t, whole, v.HasType("integer"), text)
		require.True(t, v.HasType("number"), text)
		require.False(t, v.HasType("string"), text)
	}
}

func TestKindsHaveTypesOfJSONSchema(t *testing.T) {
	for text, name := range map[string]string{
		"null": "null", "true": "boolean", `"a"`: "string", "[]": "array", "{}": "object", "1": "number",
	} {
		v, err := engine.ParseJSONText(text)
		require.NoError(t, err)
		require.True(t, v.HasType(name), text)
		require.Equal(t, name == "number", v.HasType("integer"), text)
		require.False(t, v.HasType("any"), text)
	}
}
