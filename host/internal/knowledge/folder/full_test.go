//go:build linux

package folder

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/disktest"
)

// A folder on a full disk answers from the index it has; new documents wait, with the reason,
// and are indexed when there is space.
func TestFullDisk(t *testing.T) {
	dir := disktest.Small(t, "32m")
	docs := files(t, "fruit/apple.md", "A red apple.")
	f := opened(t, Config{Root: docs, Dir: dir, Poll: 10 * time.Millisecond})
	require.NoError(t, f.Await(t.Context()))
	free := disktest.Fill(t, dir)
	write(t, docs, "fruit/pear.md", "A green pear.")
	state := func() (out dataset.Document) {
		for _, ds := range f.Datasets("") {
			for _, d := range f.Documents("", ds.ID) {
				if d.Name == "pear.md" {
					out = d
				}
			}
		}
		return out
	}
	require.Eventually(t, func() bool {
		d := state()
		return d.State == dataset.Queued && strings.Contains(d.Messages, "full")
	}, patience, time.Millisecond)
	require.Equal(t, []string{"apple.md: A red apple."}, ask(t, f, "apple pear", "fruit"))
	free()
	require.Eventually(t, func() bool { return state().State == dataset.Done }, patience, time.Millisecond)
	require.Len(t, ask(t, f, "apple pear", "fruit"), 2)
}
