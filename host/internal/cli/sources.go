package cli

import (
	"cmp"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/external"
)

// sourcesUsage is the help text of --sources.
const sourcesUsage = "datasets of other systems that Retrieval nodes may name: `NAME=ragflow:URL#DATASET` or " +
	"NAME=dify:URL#KNOWLEDGE, further ones after commas, with the key in EASEL_SOURCE_KEY_NAME"

// readSources reads sources with their keys.
func readSources(a *app, text string) ([]external.Setting, error) {
	list, err := external.Parse(cmp.Or(text, a.getenv("EASEL_SOURCES")))
	for i := range list {
		list[i].Key = a.getenv("EASEL_SOURCE_KEY_" + strings.ToUpper(list[i].Name))
	}
	return list, err
}
