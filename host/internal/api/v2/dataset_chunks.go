package v2

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Paths of chunks.
const (
	allChunks = oneDocument + "/chunks"
	oneChunk  = allChunks + "/{chunk}"
)

func (d datasets) chunkOperations() []operation {
	const read, edit = app.ScopeRead, app.ScopeEdit
	return []operation{
		handle(operation{
			method: "GET", path: allChunks, body: api.BodyNone, scope: read, name: "listChunks",
			about: "List the chunks of a document in document order.",
		}, d.listChunks),
		handle(operation{
			method: "POST", path: allChunks, body: api.BodyCanvas, scope: edit, name: "addChunk", status: created,
			about: "Create a chunk by hand. It is kept when the document is parsed again. A chunk with the same " +
				"content is updated.",
		}, d.addChunk),
		handle(operation{
			method: "GET", path: oneChunk, body: api.BodyNone, scope: read, name: "getChunk",
			about: "Get a chunk.",
		}, d.getChunk),
		handle(operation{
			method: "PATCH", path: oneChunk, body: api.BodyCanvas, scope: edit, name: "updateChunk",
			about: "Update the given members of a chunk. A chunk with changed content is kept when the document " +
				"is parsed again.",
		}, d.updateChunk),
		handle(operation{
			method: "DELETE", path: oneChunk, body: api.BodyTiny, scope: edit, name: "deleteChunk",
			about: "Delete a chunk.",
		}, d.removeChunk),
		handle(operation{
			method: "POST", path: oneChunk + "/split", body: api.BodyCanvas, scope: edit, name: "splitChunk",
			about: "Give a chunk the first text and add a chunk with the second behind it, in one change. The " +
				"response is the new chunk.",
		}, datasetEdits{d}.splitChunk),
		handle(operation{
			method: "POST", path: oneChunk + "/merge", body: api.BodyCanvas, scope: edit, name: "mergeChunks",
			about: "Give a chunk a text and the keywords and questions of another chunk too, which is removed, in " +
				"one change.",
		}, datasetEdits{d}.mergeChunks),
	}
}

type chunkView struct {
	ID        string      `json:"id"`
	Content   string      `json:"content"`
	Keywords  []string    `json:"keywords,omitempty"`
	Questions []string    `json:"questions,omitempty"`
	Tags      []string    `json:"tags,omitempty"`
	Enabled   bool        `json:"enabled" jsonschema:"whether searches return it"`
	Edited    bool        `json:"edited" jsonschema:"created or changed by hand; kept when the document is parsed again"`
	Kind      string      `json:"kind,omitempty" jsonschema:"text, table or image"`
	Image     string      `json:"image,omitempty"`
	Positions [][]float64 `json:"positions,omitempty" jsonschema:"page, left, right, top, bottom in points"`
	Parent    string      `json:"parent,omitempty" jsonschema:"the larger text that a search returns instead"`
	Created   time.Time   `json:"created"`
	Version   string      `json:"version" jsonschema:"differs when content, keywords, questions, tags or enabled do"`
}

type chunkList struct {
	Items []chunkView `json:"items"`
	Total int         `json:"total" jsonschema:"number of matches on all pages"`
}

type chunkInput struct {
	Content   *string      `json:"content,omitempty"`
	Keywords  *[]string    `json:"keywords,omitempty" jsonschema:"words with five times the weight"`
	Questions *[]string    `json:"questions,omitempty" jsonschema:"questions that the chunk answers"`
	Tags      *[]string    `json:"tags,omitempty"`
	Enabled   *bool        `json:"enabled,omitempty"`
	Positions *[][]float64 `json:"positions,omitempty" jsonschema:"page, left, right, top, bottom in points"`
	Version   string       `json:"version,omitempty" jsonschema:"of an update: fail unless the chunk has it"`
}

// versionOf is the version of a chunk, made of what people change of it.
func versionOf(v *dataset.Chunk) string {
	text, err := json.Marshal([]any{v.Content, v.Keywords, v.Questions, v.Tags, v.Disabled})
	if err != nil {
		panic(err) // strings and a bool can always be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// unchanged refuses the change of a chunk that somebody else changed; "" is any version.
func unchanged(version string) app.ChunkCheck {
	return func(c *dataset.Chunk) error {
		if version != "" && versionOf(c) != version {
			return app.Refuse(app.CodeChanged, "the chunk has a newer revision; reload and retry")
		}
		return nil
	}
}

func chunkViewOf(v dataset.Chunk) chunkView {
	return chunkView{
		ID: v.ID, Content: v.Content, Keywords: v.Keywords, Questions: v.Questions, Tags: v.Tags,
		Enabled: !v.Disabled, Edited: v.Edited, Kind: v.Kind, Image: v.Image, Positions: v.Positions,
		Parent: v.Parent, Created: timeOf(v.Created), Version: versionOf(&v),
	}
}

type listChunks struct {
	Who      app.Principal
	Dataset  string   `path:"dataset"`
	Document string   `path:"document"`
	Words    string   `query:"words" jsonschema:"only chunks that contain these words"`
	Enabled  string   `query:"enabled" jsonschema:"only enabled (true) or disabled (false) chunks"`
	Page     app.Page `order:"position"`
}

func (d datasets) listChunks(ctx context.Context, in listChunks) (chunkList, error) {
	q := app.ChunkList{Words: in.Words, Page: pageNumber(in.Page), Size: in.Page.Limit}
	switch in.Enabled {
	case "":
	case "true", "false":
		on := in.Enabled == "true"
		q.Enabled = &on
	default:
		return chunkList{}, badQuery("enabled must be true or false, not %.40q", in.Enabled)
	}
	rows, total, err := d.Chunks(ctx, in.Who, in.Dataset, in.Document, q)
	out := chunkList{Items: make([]chunkView, len(rows)), Total: total}
	for i, v := range rows {
		out.Items[i] = chunkViewOf(v)
	}
	return out, err
}

type addChunk struct {
	Who      app.Principal
	Dataset  string `path:"dataset"`
	Document string `path:"document"`
	Body     chunkInput
}

func (d datasets) addChunk(ctx context.Context, in addChunk) (chunkView, error) {
	b := in.Body
	if b.Content == nil {
		return chunkView{}, badMember("content", "content is empty; expected the text of the chunk")
	}
	v, err := d.AddChunk(ctx, in.Who, in.Dataset, in.Document, dataset.Chunk{
		Content: *b.Content, Keywords: valueOf(b.Keywords), Questions: valueOf(b.Questions), Tags: valueOf(b.Tags),
		Disabled: b.Enabled != nil && !*b.Enabled, Positions: valueOf(b.Positions),
	})
	return chunkViewOf(v), err
}

type chunkByID struct {
	Who      app.Principal
	Dataset  string `path:"dataset"`
	Document string `path:"document"`
	ID       string `path:"chunk"`
}

func (d datasets) getChunk(ctx context.Context, in chunkByID) (chunkView, error) {
	return d.chunk(ctx, in.Who, in.Dataset, in.Document, in.ID)
}

func (d datasets) chunk(ctx context.Context, who app.Principal, id, doc, chunk string) (chunkView, error) {
	rows, _, err := d.Chunks(ctx, who, id, doc, app.ChunkList{ID: chunk, Page: 1, Size: 1})
	if err == nil && len(rows) == 0 {
		err = app.Missing("chunk")
	}
	if err != nil {
		return chunkView{}, err
	}
	return chunkViewOf(rows[0]), nil
}

type updateChunk struct {
	Who      app.Principal
	Dataset  string `path:"dataset"`
	Document string `path:"document"`
	ID       string `path:"chunk"`
	Body     chunkInput
}

func (d datasets) updateChunk(ctx context.Context, in updateChunk) (chunkView, error) {
	b := in.Body
	err := d.UpdateChunk(ctx, in.Who, in.Dataset, in.Document, in.ID, app.ChunkPatch{
		Content: b.Content, Keywords: b.Keywords, Questions: b.Questions, Tags: b.Tags, Enabled: b.Enabled,
		Positions: b.Positions, Check: unchanged(b.Version),
	})
	if err != nil {
		return chunkView{}, err
	}
	return d.chunk(ctx, in.Who, in.Dataset, in.Document, in.ID)
}

func (d datasets) removeChunk(ctx context.Context, in chunkByID) (empty, error) {
	n, err := d.DeleteChunks(ctx, in.Who, in.Dataset, in.Document, in.ID)
	if err == nil && n == 0 {
		err = app.Missing("chunk")
	}
	return empty{}, err
}

type splitChunk struct {
	Who      app.Principal
	Dataset  string `path:"dataset"`
	Document string `path:"document"`
	ID       string `path:"chunk"`
	Body     splitInput
}

type splitInput struct {
	First   string `json:"first" jsonschema:"text that the chunk keeps"`
	Second  string `json:"second" jsonschema:"text of the new chunk"`
	Version string `json:"version,omitempty" jsonschema:"fail unless the chunk still has this version"`
}

func (e datasetEdits) splitChunk(ctx context.Context, in splitChunk) (chunkView, error) {
	b := in.Body
	second, err := app.SplitChunk(
		ctx, e.in.Datasets, in.Who, in.Dataset, in.Document, in.ID, [2]string{b.First, b.Second}, unchanged(b.Version))
	if err != nil {
		return chunkView{}, err
	}
	return e.in.chunk(ctx, in.Who, in.Dataset, in.Document, second)
}

type mergeChunks struct {
	Who      app.Principal
	Dataset  string `path:"dataset"`
	Document string `path:"document"`
	ID       string `path:"chunk"`
	Body     mergeInput
}

type mergeInput struct {
	With        string `json:"with" jsonschema:"id of the chunk that is removed"`
	Content     string `json:"content" jsonschema:"text of the merged chunk"`
	Version     string `json:"version,omitempty" jsonschema:"fail unless the chunk still has this version"`
	WithVersion string `json:"with_version,omitempty" jsonschema:"fail unless the removed chunk still has this version"`
}

func (e datasetEdits) mergeChunks(ctx context.Context, in mergeChunks) (chunkView, error) {
	b := in.Body
	err := app.MergeChunks(
		ctx, e.in.Datasets, in.Who, in.Dataset, in.Document, [2]string{in.ID, b.With}, b.Content,
		[2]app.ChunkCheck{unchanged(b.Version), unchanged(b.WithVersion)})
	if err != nil {
		return chunkView{}, err
	}
	return e.in.chunk(ctx, in.Who, in.Dataset, in.Document, in.ID)
}
