package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScheduleOfThePublishedVersion(t *testing.T) {
	o := operated(t)
	canvas := member(t, o.post("/api/v2/canvases", operatorKey, `{"title":"report","dsl":`+echoing+`}`), "id")
	add := []string{"schedule", "add", "report", "--every", "10m", "--published"}
	o.bad(ExitFailed, "nothing of this canvas is published; publish it first", add...)
	member(t, o.post("/api/v2/canvases/"+canvas+"/publish", operatorKey, ``), "version")
	require.True(t, o.json(add...).Get("published").True())
	require.False(t, o.json("schedule", "add", "report", "--every", "10m", "--name", "draft").Get("published").True())
}

func TestScheduleOfAPlugin(t *testing.T) {
	o := operated(t)
	member(t, o.post("/api/v2/canvases", operatorKey, `{"title":"report","dsl":`+echoing+`}`), "id")
	add := []string{"schedule", "add", "report", "--plugin", "feed", "--params", `{"url":"x"}`}
	o.bad(ExitFailed, "plugin feed: ", append(add, "--every", "10m")...)
	o.bad(ExitUsage, "--params", "schedule", "add", "report", "--plugin", "feed", "--params", "{")
	o.bad(ExitUsage, "either --every or --cron is required", append(add, "--every", "10m", "--cron", "@daily")...)
}
