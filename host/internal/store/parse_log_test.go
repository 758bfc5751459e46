package store

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// parsed claims the next document and finishes it.
func parsed(t *testing.T, s *Store, state dataset.State, ran dataset.Ran) Document {
	t.Helper()
	v, err := s.Ingestion.Claim(t.Context(), Claim{
		Lease: NewID(), Until: s.ms() + 1e6,
		File: func(*Document) string { return NewID() },
	})
	require.NoError(t, err)
	v.State, v.Messages = state, "line"
	done, err := s.Ingestion.Finish(t.Context(), Finished{Document: v, Ran: ran})
	require.NoError(t, err)
	return done[0]
}

func TestParseLogs(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		shop := newDataset(t, s, "t", "1", "shop")
		newDocument(t, s, shop, "a", "A.txt")
		newDocument(t, s, shop, "b", "b.txt")
		dsl := json.RawMessage(`{"components":{}}`)
		for range 2 {
			require.NoError(t, s.Ingestion.Queue(ctx, "t", "1", "a"))
			parsed(t, s, dataset.Done, dataset.Ran{Title: "flow", Canvas: dsl})
		}
		require.NoError(t, s.Ingestion.Queue(ctx, "t", "1", "b"))
		require.NoError(t, s.Ingestion.Cancel(ctx, "t", "1", "b", "canceled\n"))

		list, total, err := s.ParseLogs.List(ctx, ParseLogFilter{Tenant: "t", Dataset: "1"}, Page{})
		require.NoError(t, err)
		require.Equal(t, 3, total)
		require.Len(t, list, 3)
		named := ParseLogFilter{Tenant: "t", Dataset: "1", Words: "a.T"}
		list, total, err = s.ParseLogs.List(ctx, named, Page{Limit: 1})
		require.NoError(t, err)
		require.Equal(t, []int{2, 1}, []int{total, len(list)})
		list, _, err = s.ParseLogs.List(ctx, ParseLogFilter{Tenant: "t", Dataset: "1", Document: "a"}, Page{})
		require.NoError(t, err)
		withCanvas := 0
		for _, v := range list {
			require.Nil(t, v.Canvas, "lists are without canvases")
			v, err := s.ParseLogs.Get(ctx, "t", v.ID)
			require.NoError(t, err)
			require.Equal(t, "flow", v.Title)
			if v.Canvas != nil {
				withCanvas++
				require.JSONEq(t, string(dsl), string(v.Canvas))
			}
		}
		require.Equal(t, 1, withCanvas, "the newest parse of a document has its canvas")
		_, err = s.ParseLogs.Get(ctx, "other", list[0].ID)
		require.ErrorIs(t, err, ErrNotFound)

		_, err = s.Documents.Delete(ctx, "t", "1", "a")
		require.NoError(t, err)
		_, total, err = s.ParseLogs.List(ctx, ParseLogFilter{Tenant: "t", Dataset: "1"}, Page{})
		require.NoError(t, err)
		require.Equal(t, 1, total, "logs go with their document")
		require.NoError(t, s.Datasets.Delete(ctx, "t", "1"))
		_, total, err = s.ParseLogs.List(ctx, ParseLogFilter{Tenant: "t", Dataset: "1"}, Page{})
		require.NoError(t, err)
		require.Zero(t, total)
	})
}

// A rerun lasts until its parse ends, is canceled, or the document is parsed from the beginning.
func TestRerunEndsWithItsParse(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		newDocument(t, s, newDataset(t, s, "t", "1", "shop"), "a", "a.txt")
		again := dataset.Rerun{Node: "TokenChunker:A", Canvas: json.RawMessage(`{"components":{}}`)}
		rerun := func() *dataset.Rerun {
			v, err := s.Ingestion.RerunOf(ctx, "a")
			require.NoError(t, err)
			return v
		}
		require.NoError(t, s.Ingestion.Rerun(ctx, "t", "1", "a", again))
		require.Equal(t, again.Node, rerun().Node)
		require.ErrorIs(t, s.Ingestion.Rerun(ctx, "t", "1", "a", again), ErrConflict)
		parsed(t, s, dataset.Failed, dataset.Ran{})
		require.Nil(t, rerun())
		list, _, err := s.ParseLogs.List(ctx, ParseLogFilter{Tenant: "t", Dataset: "1"}, Page{})
		require.NoError(t, err)
		require.Equal(t, again.Node, list[0].Node)

		require.NoError(t, s.Ingestion.Rerun(ctx, "t", "1", "a", again))
		require.NoError(t, s.Ingestion.Cancel(ctx, "t", "1", "a", ""))
		require.Nil(t, rerun())
		require.ErrorIs(t, s.Ingestion.Rerun(ctx, "t", "1", "none", again), ErrNotFound)
		require.Nil(t, rerun())
	})
}

func TestParseLogsAreBounded(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	ctx := t.Context()
	v := newDocument(t, s, newDataset(t, s, "t", "1", "shop"), "a", "a.txt")
	require.NoError(t, s.write(ctx, "fill", func(ctx context.Context, q querier) error {
		for range keptLogs + 5 {
			if err := addParseLog(ctx, q, &v, dataset.Ran{}, s.now()); err != nil {
				return err
			}
		}
		return nil
	}))
	_, total, err := s.ParseLogs.List(ctx, ParseLogFilter{Tenant: "t", Dataset: "1"}, Page{})
	require.NoError(t, err)
	require.Equal(t, keptLogs, total)
}
