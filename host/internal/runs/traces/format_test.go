package traces

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// event returns an event as the engine writes it.
func event(seq, at uint64, kind, data string) runlog.Record {
	text := `{"event":"` + kind + `","message_id":"m","created_at":1764000000,"task_id":"r","data":` + data + `}`
	return runlog.Record{Seq: seq, At: at, Kind: kind, Data: []byte(text)}
}

func piece(seq, at uint64, text string) runlog.Record {
	return event(seq, at, "message", string(append(engine.AppendQuoted([]byte(`{"content":`), text), '}')))
}

func end(seq, at uint64, status string) runlog.Record {
	return runlog.Record{Seq: seq, At: at, Kind: runs.KindEnd, Data: []byte(`{"status":"` + status + `"}`)}
}

func sampleRun(status string) []runlog.Record {
	return []runlog.Record{
		{Seq: 1, At: 7, Kind: runs.KindDocument, Data: []byte(`{"components":{}}`)},
		event(2, 7, "workflow_started", `{"inputs":{"a":1.50}}`),
		event(3, 7, "snapshot", `{"state":"first"}`),
		event(4, 8, "node_started", `{"component_id":"A"}`),
		piece(5, 9, "Hel"), piece(6, 9, `lo "you"`), piece(7, 10, "\n\u2028"),
		event(8, 10, "message", `{"content":"","start_to_think":true}`),
		piece(9, 10, "x"), piece(11, 11, "after a gap"),
		{Seq: 12, At: 12, Kind: runs.KindTakeover, Data: []byte(`{"attempt":2}`)},
		{Seq: 13, At: 12, Kind: "message", Data: []byte(`{"event":"message","message_id":"o","data":{"content":"x"}}`)},
		{Seq: 14, At: 12, Kind: "odd", Data: []byte("no\njson\xff")},
		event(15, 13, "exchange", `{"port":"model","request":{},"answer":{}}`),
		event(16, 14, "snapshot", `{"state":"last"}`),
		end(17, 14, status),
	}
}

func TestTraceHasTheRecordsOfTheLog(t *testing.T) {
	for _, status := range []string{"succeeded", "paused"} {
		records := sampleRun(status)
		text, err := Encode([]byte("before"), Header{Run: "r", Doc: "h"}, records)
		require.NoError(t, err)
		text = bytes.TrimPrefix(text, []byte("before"))
		for l := range bytes.Lines(text) {
			require.True(t, json.Valid(l), string(l))
		}
		h, got, err := Decode(text)
		require.NoError(t, err)
		require.Equal(t, "r", h.Run)
		want := append(append([]runlog.Record{}, records[1:14]...), records[15])
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, string(want[i].Data), string(got[i].Data), "record %d", want[i].Seq)
			require.Equal(t, want[i].Pos(), got[i].Pos())
			require.Equal(t, want[i].Kind, got[i].Kind)
		}
	}
}

// The pieces of a message are one line.
func TestPiecesAreOneLine(t *testing.T) {
	records := []runlog.Record{event(1, 1, "workflow_started", "{}")}
	for i := range 500 {
		records = append(records, piece(uint64(i+2), 2, fmt.Sprint(" word ", i)))
	}
	text, err := Encode(nil, Header{}, records)
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(text), "\n"))
	require.Less(t, len(text), 20_000)
	_, got, err := Decode(text)
	require.NoError(t, err)
	require.Len(t, got, 501)
}

func TestSelectedIsWhatALeaseCollects(t *testing.T) {
	var records []runlog.Record
	kinds := []string{"document", "snapshot", "result", "snapshot", "checkpoint", "message", "snapshot", "end"}
	for i, kind := range kinds {
		records = append(records, runlog.Record{Seq: uint64(i + 1), Kind: kind})
	}
	var kept []uint64
	for _, r := range selected(records) {
		kept = append(kept, r.Seq)
	}
	require.Equal(t, []uint64{1, 2, 6, 7, 8}, kept)
}

func FuzzDecode(f *testing.F) {
	text, err := Encode(nil, Header{Run: "r"}, sampleRun("paused"))
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"v":1}` + "\n" + `{"n":1,"e":"message","text":"ab","lengths":[5]}`))
	f.Add([]byte(`{"v":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, records, err := Decode(text)
		if err == nil {
			again, err := Encode(nil, Header{}, records)
			require.NoError(t, err)
			_, _, err = Decode(again)
			require.NoError(t, err)
		}
	})
}

// Any bytes that a log may hold come back.
func FuzzEncode(f *testing.F) {
	f.Add("message", []byte(`{"event":"message","message_id":"m","data":{"content":"\u0041"}}`), "x")
	f.Add("message", []byte(`{"event":"message","data":{"content":"a"b"}}`), "\xff")
	f.Fuzz(func(t *testing.T, kind string, data []byte, text string) {
		if len(kind) > 255 || strings.ToValidUTF8(kind, "") != kind || kind == runs.KindDocument || kind == "snapshot" {
			return
		}
		records := []runlog.Record{
			piece(1, 1, "a"),
			{Seq: 2, At: 1, Kind: kind, Data: data},
			piece(3, 1, text), piece(4, 2, text),
			{Seq: 5, At: 2, Kind: kind, Data: data},
		}
		out, err := Encode(nil, Header{}, records)
		require.NoError(t, err)
		_, got, err := Decode(out)
		require.NoError(t, err)
		require.Len(t, got, len(records))
		for i := range records {
			require.True(t, bytes.Equal(records[i].Data, got[i].Data), "%q is %q", records[i].Data, got[i].Data)
			require.Equal(t, records[i].Kind, got[i].Kind)
			require.Equal(t, records[i].Pos(), got[i].Pos())
		}
	})
}
