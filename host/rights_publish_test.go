package host

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/app"
)

// checked are the findings of the host about a document.
type checked struct {
	Diagnostics []engine.Diagnostic
	Opened      []app.Opened
}

// Publishing names the private datasets and memories that others read through the canvas, before
// and after, and validation reports what the publisher may not use as what does not exist.
func TestPublishSaysWhatItOpens(t *testing.T) {
	c := newCrew(t)
	inner := c.canvas("ann", says("x"), false)
	c.publish("ann", inner)
	dsl := sketch.Chain(begin,
		`Retrieval:R Retrieval {"query":"code","kb_ids":["VAULT","shared","`+c.vault+`"]}`,
		`Retrieval:N Retrieval {"query":"code","retrieval_from":"memory","memory_ids":["`+c.diary+`","`+c.minutes+`"]}`,
		`Canvas:C Canvas {"canvas":"`+inner+`"}`,
		`Message:M Message {"content":["x"],"memory_ids":["`+c.diary+`"]}`)
	id := c.canvas("ann", dsl, true)
	check := func(key, path, body string) (out checked) {
		require.NoError(t, json.Unmarshal([]byte(c.send(key, "POST", path, body)), &out))
		return out
	}
	anns := []app.Opened{{Kind: "dataset", ID: c.vault, Title: "vault"}, {Kind: "memory", ID: c.diary, Title: "diary"}}
	validated := check("ann", "/api/v2/canvases/"+id+"/validate", `{}`)
	require.Equal(t, anns, validated.Opened)
	for _, d := range validated.Diagnostics {
		require.NotContains(t, d.Code, "unknown_", d.Message)
	}
	require.Equal(t, anns, check("ann", "/api/v2/validate", `{"dsl":`+dsl+`}`).Opened)
	require.Equal(t, anns, check("ann", "/api/v2/canvases/"+id+"/publish", `{}`).Opened)

	validated = check("bob", "/api/v2/canvases/"+id+"/validate", `{}`)
	require.Empty(t, validated.Opened)
	var problems []string
	for _, d := range validated.Diagnostics {
		switch d.Code {
		case engine.CodeUnknownDataset, engine.CodeUnknownMemory, engine.CodeUnknownCanvas:
			problems = append(problems, fmt.Sprintf("%s %s %s: %s", d.Severity, d.Node, d.Param, d.Message))
		}
	}
	const why = ` does not exist, or you have no access to it`
	require.Equal(t, []string{
		`error Retrieval:R kb_ids: dataset "VAULT"` + why, `error Retrieval:R kb_ids: dataset "` + c.vault + `"` + why,
		`error Retrieval:N memory_ids: memory "` + c.diary + `"` + why,
		`error Canvas:C canvas: canvas "` + inner + `"` + why,
		`warning Message:M memory_ids: memory "` + c.diary + `"` + why,
	}, problems)
	require.Empty(t, check("bob", "/api/v2/canvases/"+id+"/publish", `{}`).Opened)
}
