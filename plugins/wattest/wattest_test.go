package wattest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/wattest"
)

func TestAssembleWritesTheBinaryFormat(t *testing.T) {
	b, err := wattest.Assemble(`(module (func (export "f") (result i32) i32.const -1)) ; one function`)
	require.NoError(t, err)
	require.Equal(t, []byte("\x00asm\x01\x00\x00\x00"+
		"\x01\x05\x01\x60\x00\x01\x7f"+"\x03\x02\x01\x00"+"\x07\x05\x01\x01f\x00\x00"+
		"\x0a\x06\x01\x04\x00\x41\x7f\x0b"), b)
}

func TestAssembleErrorsIncludeTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"(module\n (func i32.cnst 1))":     `line 2: unknown instruction "i32.cnst"`,
		"(module (func call $missing))":    "no func $missing",
		"(module (func br $nowhere))":      "no label $nowhere",
		"(module (funk))":                  `unknown field "funk"`,
		"(module (func i32.const)":         "not closed",
		"(func)":                           "want (module …)",
		"(module (func i32.const abc))":    "want a number",
		"(module (func i32.const))":        "wants an operand",
		"(module (memory (export \"m\")))": "want a size",
	} {
		_, err := wattest.Assemble(text)
		require.ErrorContains(t, err, want)
	}
}
