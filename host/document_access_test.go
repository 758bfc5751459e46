package host

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
)

// library is a shared dataset of ann's whose documents have lists. Each document and each of its
// chunks has a word that no other has. The fields repeat what the host should know.
type library struct {
	*crew
	rng    *rand.Rand
	id     string // of the dataset
	canvas string
	token  string // of a page that embeds the canvas
	books  []*book
	policy access.Policy
	groups map[string]access.Groups // of callers by key
	runs   []string                 // ids, since the last change of who reads what
	words  int
}

// book is a document.
type book struct {
	id    string
	word  string // of its name and its file
	words []string
	list  access.List
}

var (
	libraryLists = [][]string{
		nil, {}, {"all"}, {"group:hr"}, {"group:it"}, {"group:hr", "group:it"}, {"user:ANN"}, {"user:BOB", "group:it"},
	}
	libraryCallers = []string{"key", "ann", "bob", "visitor"}
)

func newLibrary(t *testing.T) *library {
	l := &library{
		crew: newCrew(t), rng: rand.New(rand.NewPCG(36, 10_000)), groups: map[string]access.Groups{},
	}
	l.id = l.made("ann", "POST", "/api/v2/datasets", `{"name":"library","team":true,"embedding_model":"none"}`)
	for range 6 {
		l.add()
	}
	l.canvas = l.crew.canvas("ann", searching(`"kb_ids":["`+l.id+`"],"similarity_threshold":0,"top_n":50`), true)
	l.publish("ann", l.canvas)
	token, err := l.h.store.Betas.For(l.Context(), firstTenantID, l.canvas)
	require.NoError(t, err)
	l.token = token.Text
	return l
}

// newWord returns words that are near to each other, so that corrections offer them.
func (l *library) newWord() string {
	n := l.words
	l.words++
	return fmt.Sprintf("zq%c%c%ck", 'a'+n/676%26, 'a'+n/26%26, 'a'+n%26)
}

// add adds a document with two chunks, while everyone may read all.
func (l *library) add() {
	b := &book{word: l.newWord()}
	d, err := l.h.datasets.Service.Upload(l.Context(), app.For(l.viewer("ann")), l.id, app.Upload{
		Name: b.word + ".md", Body: strings.NewReader("file " + b.word),
	})
	require.NoError(l, err)
	b.id = d.ID
	l.books = append(l.books, b)
	for range 2 {
		l.addChunk("ann", b)
	}
}

func (l *library) addChunk(key string, b *book) {
	word := l.newWord()
	path := "/api/v2/datasets/" + l.id + "/documents/" + b.id + "/chunks"
	l.made(key, "POST", path, fmt.Sprintf(`{"content":"code %s lion","keywords":["%sy"]}`, word, word))
	b.words = append(b.words, word)
}

// entries names the members of a list by their ids.
func (l *library) entries(list []string) []string {
	if list == nil {
		return nil
	}
	out := []string{}
	for _, e := range list {
		e = strings.ReplaceAll(e, "user:ANN", "user:"+l.users["ann"])
		out = append(out, strings.ReplaceAll(e, "user:BOB", "user:"+l.users["bob"]))
	}
	return out
}

func (l *library) list() (text string, list access.List) {
	entries := l.entries(libraryLists[l.rng.IntN(len(libraryLists))])
	raw, err := json.Marshal(entries)
	require.NoError(l, err)
	list, err = app.AccessList(entries)
	require.NoError(l, err)
	return string(raw), list
}

func (l *library) reader(caller string) access.Reader {
	return access.Reader{User: l.users[caller], Groups: l.groups[caller]}
}

func (l *library) reads(caller string, b *book) bool {
	return l.policy.Allows(l.reader(caller), b.list)
}

// seen are the documents that a caller may read, and their chunks.
func (l *library) seen(caller string) (books, chunks int) {
	for _, b := range l.books {
		if l.reads(caller, b) {
			books++
			chunks += len(b.words)
		}
	}
	return books, chunks
}

// free refuses a text with a word that a caller may not read. It may have those that were asked.
func (l *library) free(caller, door, text, asked string) {
	l.Helper()
	for _, b := range l.books {
		if l.reads(caller, b) {
			continue
		}
		for _, word := range append([]string{b.word}, b.words...) {
			if strings.Contains(text, word) && !strings.Contains(asked, word) {
				l.Fatalf("%s: %s reads %s of document %s: %s", door, caller, word, b.id, text)
			}
		}
	}
}

// change changes who reads what.
func (l *library) change() {
	dataset := "/api/v2/datasets/" + l.id
	b := l.books[l.rng.IntN(len(l.books))]
	text, list := l.list()
	switch l.rng.IntN(6) {
	case 0, 1:
		l.made("key", "PUT", dataset+"/access/documents", fmt.Sprintf(`{"documents":[%q],"access":%s}`, b.id, text))
		b.list = list
	case 2:
		enforce := l.rng.IntN(6) > 0
		l.made("ann", "PUT", dataset+"/access", fmt.Sprintf(`{"enforce":%v,"default":%s}`, enforce, text))
		l.policy = access.Policy{Enforce: enforce, Default: list}
	case 3:
		caller := libraryCallers[l.rng.IntN(3)]
		names := [][]string{{}, {"hr"}, {"it"}, {"hr", "it"}}[l.rng.IntN(4)]
		raw, err := json.Marshal(names)
		require.NoError(l, err)
		l.made("key", "PUT", "/api/v2/users/"+l.users[caller]+"/groups", `{"groups":`+string(raw)+`}`)
		l.groups[caller] = access.GroupsOf(names...)
	case 4:
		if l.reads("ann", b) && len(b.words) < 4 {
			l.addChunk("ann", b)
		}
	case 5:
		l.made("key", "PUT", dataset+"/access/documents", `{"access":`+text+`}`)
		for _, b := range l.books {
			b.list = list
		}
		for _, b := range l.books[:3] { // they differ again
			text, list := l.list()
			l.made("key", "PUT", dataset+"/access/documents",
				fmt.Sprintf(`{"documents":[%q],"access":%s}`, b.id, text))
			b.list = list
		}
	}
	l.runs = nil
}

// total reads a member of an answer.
func (l *library) total(text string, path ...string) int {
	l.Helper()
	var v any
	require.NoError(l, json.Unmarshal([]byte(text), &v), text)
	for _, name := range path {
		in, _ := v.(map[string]any)
		v = in[name]
	}
	n, ok := v.(float64)
	require.True(l, ok, "no number: %s", text)
	return int(n)
}

// ask sends a request to a random route as a member.
func (l *library) ask(caller string) {
	l.Helper()
	books, chunks := l.seen(caller)
	b := l.books[l.rng.IntN(len(l.books))]
	dataset := "/api/v2/datasets/" + l.id
	document := dataset + "/documents/" + b.id
	get := func(door, path string) string {
		text := l.send(caller, "GET", path, "")
		l.free(caller, door, text, "")
		return text
	}
	switch l.rng.IntN(12) {
	case 0:
		question := "code"
		if l.rng.IntN(2) == 0 {
			question = "code " + b.words[0][:4] + "xk" // corrected to a word nearby
		}
		text := l.send(caller, "POST", "/api/v2/search", fmt.Sprintf(
			`{"datasets":[%q],"question":%q,"threshold":0,"page_size":50,"forgive":true}`, l.id, question))
		l.free(caller, "search", text, "")
		require.Equal(l, chunks, l.total(text, "total"), text)
	case 1:
		text := l.send(caller, "POST", "/api/v2/search", fmt.Sprintf(
			`{"datasets":[%q],"question":%q,"threshold":0.01}`, l.id, b.words[0]))
		l.free(caller, "search by a word", text, b.words[0])
		if !l.reads(caller, b) {
			require.NotContains(l, text, "lion", text)
		}
	case 2:
		text := l.send(caller, "POST", "/api/v1/retrieval", fmt.Sprintf(
			`{"dataset_ids":[%q],"question":"lion","similarity_threshold":0,"page_size":50}`, l.id))
		l.free(caller, "retrieval", text, "")
		require.Equal(l, chunks, l.total(text, "data", "total"), text)
	case 3:
		require.Equal(l, books, l.total(get("documents", dataset+"/documents"), "total"))
		text := get("documents of RAGFlow", "/api/v1/datasets/"+l.id+"/documents")
		require.Equal(l, books, l.total(text, "data", "total"))
	case 4:
		text := get("dataset", dataset)
		require.Equal(l, books, l.total(text, "documents"))
		require.Equal(l, chunks, l.total(text, "chunks"))
		get("datasets of RAGFlow", "/api/v1/datasets?id="+l.id)
		get("datasets", "/api/v2/datasets")
	case 5:
		get("document", document)
		get("content", document+"/content")
		get("download", "/api/v1/datasets/"+l.id+"/documents/"+b.id)
		get("thumbnails", "/v1/document/thumbnails?doc_ids="+b.id)
	case 6:
		get("chunks", document+"/chunks")
		get("chunks by words", document+"/chunks?words=code")
		get("chunks of RAGFlow", "/api/v1/datasets/"+l.id+"/documents/"+b.id+"/chunks?keywords=code")
	case 7:
		get("metadata", dataset+"/metadata")
		get("parses", dataset+"/parses")
		get("canvas", "/api/v2/canvases/"+l.canvas)
	case 8:
		// What is refused must change nothing, and is refused like what does not exist.
		if !l.reads(caller, b) {
			for _, body := range []string{`{"metadata":{"a":"b"}}`, `{"enabled":false}`} {
				text := l.send(caller, "PATCH", document, body)
				l.free(caller, "edit", text, "")
				require.Contains(l, text, "not_found", text)
			}
			text := l.send(caller, "POST", document+"/chunks", `{"content":"mine"}`)
			require.Contains(l, text, "not_found", text)
			l.send(caller, "DELETE", document, "")
			l.send(caller, "DELETE", dataset+"/documents", `{"documents":["`+b.id+`"]}`)
		}
		if caller == "bob" {
			text := l.send(caller, "PUT", dataset+"/access/documents", `{"access":["all"]}`)
			require.Contains(l, text, "forbidden", text)
			text = l.send(caller, "PUT", dataset+"/access", `{"enforce":false}`)
			require.Contains(l, text, "forbidden", text)
		}
	case 9, 10:
		l.runAs(caller)
	case 11:
		l.readRuns(caller)
	}
}

// runAs runs the canvas, whose datasets are used with the rights of ann, and reads its answer.
// Nothing in the request makes the caller another reader.
func (l *library) runAs(caller string) {
	l.Helper()
	ann := l.users["ann"]
	if l.rng.IntN(2) == 0 {
		text := l.send(caller, "POST", "/api/v1/agents/"+l.canvas+"/completions",
			fmt.Sprintf(`{"question":"code","stream":false,"user_id":%q}`, ann))
		l.free(caller, "completion", text, "")
		return
	}
	body := fmt.Sprintf(`{"query":"code","published":true,"user":%q,"inputs":{"groups":"hr"}}`, ann)
	id := l.made(caller, "POST", "/api/v2/canvases/"+l.canvas+"/runs", body)
	said := l.said(caller, id)
	l.free(caller, "run", said, "")
	for _, b := range l.books {
		if l.reads(caller, b) {
			require.Contains(l, said, b.words[0], "%s reads too little", caller)
		}
	}
	l.runs = append(l.runs, id)
	l.readRuns([]string{"key", "ann", "bob"}[l.rng.IntN(3)])
}

// readRuns reads runs of others, and conversations.
func (l *library) readRuns(caller string) {
	l.Helper()
	for _, run := range l.runs {
		for _, path := range []string{"", "/events", "/trace", "/case", "/document"} {
			text := l.send(caller, "GET", "/api/v2/runs/"+run+path, "")
			l.free(caller, "run of another"+path, text, "")
		}
		l.free(caller, "trace of RAGFlow", l.send(caller, "GET", "/v1/canvas/trace?message_id="+run, ""), "")
	}
}

// visit sends a question as the visitor of a page that embeds the canvas.
func (l *library) visit() {
	l.Helper()
	text := l.send(l.token, "POST", "/0.27/api/v1/agentbots/"+l.canvas+"/completions",
		fmt.Sprintf(`{"question":"code?","stream":false,"release":true,"user_id":%q}`, l.users["ann"]))
	l.free("visitor", "embedded page", text, "")
	l.free("visitor", "webhook", l.send("", "POST", "/api/v1/webhook/"+l.canvas, `{}`), "")
}

// No door shows a word of a document to a caller whom its list does not let in, over random lists,
// groups, callers and edits, and totals count the other documents alone.
func TestDocumentAccess(t *testing.T) {
	l := newLibrary(t)
	for range accessRounds {
		if l.rng.IntN(4) == 0 {
			l.change()
			continue
		}
		if caller := libraryCallers[l.rng.IntN(len(libraryCallers))]; caller == "visitor" {
			l.visit()
		} else {
			l.ask(caller)
		}
	}
}
