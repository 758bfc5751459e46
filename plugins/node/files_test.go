package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
)

// A plugin that may store files names its attachments, which are known at its end only.
func TestStoredFilesAreOutputs(t *testing.T) {
	read := func(permissions string) *contract.Manifest {
		m, err := contract.ParseManifest([]byte(`{"abi":1,"name":"x","version":"1.0.0","description":"d","streams":true,
			"outputs":{"type":"object","properties":{"text":{"type":"string"}}},"permissions":{` + permissions + `}}`))
		require.NoError(t, err)
		return m
	}
	names := func(m *contract.Manifest) (list []string) {
		for _, f := range outputs(m) {
			list = append(list, f.Name)
		}
		return list
	}
	writes := read(`"files":{"write_bytes":9,"reason":"r"}`)
	require.Equal(t, []string{"text", "attachments", "attachment"}, names(writes))
	output, alone := streamed(writes)
	require.Equal(t, "text", output)
	require.False(t, alone)
	reads := read(`"files":{"read":true,"reason":"r"}`)
	require.Equal(t, []string{"text"}, names(reads))
	output, alone = streamed(reads)
	require.Equal(t, "text", output)
	require.True(t, alone)
}
