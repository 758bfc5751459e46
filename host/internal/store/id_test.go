package store

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Ids are random: all of their bits, or in the form of a UUID of version 1 all but six.
func TestIDsAreRandom(t *testing.T) {
	const count = 2000
	for name, id := range map[string]struct {
		make  func() string
		fixed int
	}{"id": {NewID, 0}, "document": {NewDocumentID, 6}} {
		t.Run(name, func(t *testing.T) {
			var ones [128]int
			seen := map[string]bool{}
			for range count {
				text := id.make()
				require.Len(t, text, 32)
				require.False(t, seen[text])
				seen[text] = true
				bits, err := hex.DecodeString(text)
				require.NoError(t, err)
				for i := range ones {
					ones[i] += int(bits[i/8] >> (i % 8) & 1)
				}
				if id.fixed > 0 {
					u, err := uuid.Parse(text)
					require.NoError(t, err)
					require.EqualValues(t, 1, u.Version())
					require.Equal(t, uuid.RFC4122, u.Variant())
				}
			}
			fixed := 0
			for _, n := range ones {
				if n == 0 || n == count {
					fixed++
					continue
				}
				require.InDelta(t, count/2, n, 250, "ten standard deviations")
			}
			require.Equal(t, id.fixed, fixed)
		})
	}
}

// BenchmarkIDs compares ids that begin with the time with random ones: documents added to 20,000
// others, and runs that begin and end among 20,000 others.
func BenchmarkIDs(b *testing.B) {
	hexID := func(id uuid.UUID, err error) string {
		require.NoError(b, err)
		return hex.EncodeToString(id[:])
	}
	const before = 20_000
	for _, engine := range []string{"sqlite", "postgres"} {
		for name, id := range map[string]func() string{
			"time":   func() string { return hexID(uuid.NewUUID()) },
			"random": NewDocumentID,
		} {
			b.Run(fmt.Sprintf("%s/documents/%s", engine, name), func(b *testing.B) {
				s := openTest(b, engineConfig(b, engine))
				set := dataset.Dataset{ID: id(), Tenant: "t", Name: "d"}
				ds, err := s.Datasets.Create(b.Context(), Dataset{Dataset: set})
				require.NoError(b, err)
				n := 0
				add := func() {
					n++
					doc := dataset.Document{ID: id(), Dataset: ds.ID, Name: fmt.Sprint("document ", n)}
					_, err := s.Documents.Create(b.Context(), Document{Tenant: "t", Document: doc}, 0)
					require.NoError(b, err)
				}
				for range before {
					add()
				}
				for b.Loop() {
					add()
				}
			})
		}
		for name, id := range map[string]func() string{
			"time":   func() string { return hexID(uuid.NewV7()) },
			"random": NewID,
		} {
			b.Run(fmt.Sprintf("%s/runs/%s", engine, name), func(b *testing.B) {
				s := openTest(b, engineConfig(b, engine))
				add := func() {
					run := id()
					require.NoError(b, s.Runs.Start(b.Context(), Run{ID: run, Message: run, Tenant: "t", Canvas: "c"}))
					_, err := s.Runs.End(b.Context(), RunEnd{ID: run, Tenant: "t", Status: RunDone}, nil)
					require.NoError(b, err)
				}
				for range before {
					add()
				}
				for b.Loop() {
					add()
				}
			})
		}
	}
}
