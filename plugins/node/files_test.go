package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
)

// A plugin that may store files names its attachments, and cannot stream, since they are known at
// the end only.
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
	require.Empty(t, streamed(writes))
	reads := read(`"files":{"read":true,"reason":"r"}`)
	require.Equal(t, []string{"text"}, names(reads))
	require.Equal(t, "text", streamed(reads))
}
