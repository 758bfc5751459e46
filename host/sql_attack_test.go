package host

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/model"
	easelsql "github.com/easel-canvas/easel/host/internal/tools/sql"
)

// visitor sends a question with the token of a page that embeds a canvas and returns the response.
func visitor(t *testing.T, url, canvas, question string) string {
	t.Helper()
	var token struct{ Token string }
	call(t, "POST", url+"/api/v2/canvases/"+canvas+"/token", "", &token)
	body, err := json.Marshal(map[string]any{"question": question, "stream": false})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/api/v1/agentbots/"+canvas+"/completions",
		strings.NewReader(string(body)))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token.Token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(answer)
}

// TestVisitorsReadNoRecordsThroughSQL has visitors of an embedded canvas send SQL that leaves the
// file of the node, themselves and through a model, to nodes that only read and to one that may
// write.
func TestVisitorsReadNoRecordsThroughSQL(t *testing.T) {
	base := t.TempDir()
	data, folder := filepath.Join(base, "data"), filepath.Join(base, "sql")
	require.NoError(t, os.Mkdir(folder, 0o700))
	shop, err := sql.Open("sqlite", filepath.Join(folder, "shop.db"))
	require.NoError(t, err)
	_, err = shop.Exec("CREATE TABLE orders (item TEXT); INSERT INTO orders VALUES ('green tea')")
	require.NoError(t, err)
	require.NoError(t, shop.Close())
	asked := "" // for the model
	provider := httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": asked},
		}}})
	})
	_, url := open(t, Config{
		Dir: data, SQLiteDir: folder, AllowPrivate: true,
		Models: Models{Providers: []model.Provider{{Name: "p", BaseURL: provider}}},
	})
	const mark = "title-of-the-host"
	var other struct{ ID string }
	call(t, "POST", url+"/api/v2/canvases", `{"title":"`+mark+`","dsl":`+sketch.Chain("begin Begin")+`}`, &other)

	records := filepath.Join(data, "easel.db")
	rows := func() (n int) {
		db, err := sql.Open("sqlite", "file:"+records+"?mode=ro")
		require.NoError(t, err)
		defer db.Close()
		require.NoError(t, db.QueryRow("SELECT count(*) FROM users").Scan(&n))
		return n
	}
	before := rows()
	require.Positive(t, before)
	nodes := map[string][]string{}
	for _, readOnly := range []bool{true, false} {
		params := fmt.Sprintf(`{"db_type":"sqlite","database":"shop.db","read_only":%v,"sql":`, readOnly)
		nodes[fmt.Sprint("asked, read_only ", readOnly)] = []string{"Q ExeSQL " + params + `"{sys.query}"}`}
		nodes[fmt.Sprint("by a model, read_only ", readOnly)] = []string{
			`L LLM {"llm_id":"m@p","prompts":[{"role":"user","content":"{sys.query}"}]}`,
			"Q ExeSQL " + params + `"{L@content}"}`,
		}
	}
	for name, nodes := range nodes {
		t.Run(name, func(t *testing.T) {
			lines := append([]string{"begin Begin"}, nodes...)
			lines = append(lines, `M Message {"content":["{Q@formalized_content}"]}`)
			canvas := saved(t, url, "key", sketch.Chain(lines...))
			ask := func(statement string) string {
				asked = statement
				return visitor(t, url, canvas, statement)
			}
			require.Contains(t, ask("SELECT * FROM orders"), "green tea")
			for _, attack := range []string{
				"SELECT 1 AS [x']; ATTACH '%s' AS o; SELECT * FROM o.users -- '",
				"SELECT 1 AS [x']; ATTACH '%s' AS o; SELECT title FROM o.canvases -- '",
				"SELECT 1 AS [x']; ATTACH '%s' AS o; SELECT sql FROM o.sqlite_schema -- '",
				"SELECT 1 AS [x']; COMMIT; PRAGMA query_only=0; ATTACH '%s' AS o; DELETE FROM o.users -- '",
				"ATTACH '%s' AS o", "SELECT 1 AS a; ATTACH '%s' AS o; SELECT * FROM o.users",
				"SELECT 1 AS [x']; ATTACH '%s' AS o; DELETE FROM o.users -- '",
			} {
				answer := ask(fmt.Sprintf(attack, records))
				for _, shown := range []string{mark, "CREATE TABLE", "@easel", "password"} {
					require.NotContains(t, answer, shown, attack)
				}
				require.Equal(t, before, rows(), attack)
			}
		})
	}
}

// A visitor's text in quotes of a statement is a value, from the engine to the database.
func TestTextOfVisitorsIsNoSQL(t *testing.T) {
	folder := t.TempDir()
	shop, err := sql.Open("sqlite", filepath.Join(folder, "shop.db"))
	require.NoError(t, err)
	_, err = shop.Exec("CREATE TABLE people (id INTEGER, name TEXT);" +
		"INSERT INTO people VALUES (1, 'O''Neil'), (2, 'Ann')")
	require.NoError(t, err)
	require.NoError(t, shop.Close())
	_, url := open(t, Config{Dir: t.TempDir(), SQLiteDir: folder})
	canvas := saved(t, url, "key", sketch.Chain("begin Begin",
		`Q ExeSQL {"db_type":"sqlite","database":"shop.db",
			"sql":"SELECT 'no. ' || id FROM people WHERE name = '{sys.query}'"}`,
		`M Message {"content":["{Q@formalized_content}"]}`))
	require.Contains(t, visitor(t, url, canvas, "O'Neil"), "no. 1")
	for _, attack := range []string{"' OR 1=1 --", "x' UNION SELECT 'no. 3", "'; SELECT 'no. 4"} {
		answer := visitor(t, url, canvas, attack)
		require.Contains(t, answer, "No record in the database!")
		require.NotContains(t, answer, "no. ")
	}
}

// A folder of SQLite files that shows the data directory keeps a host from starting.
func TestFolderOfDatabasesExcludesDataDir(t *testing.T) {
	base := t.TempDir()
	data := filepath.Join(base, "data")
	for range 2 { // before the first start, and after
		for _, folder := range []string{base, data, filepath.Join(base, "..", filepath.Base(base))} {
			_, err := New(t.Context(), Config{Dir: data, SQLiteDir: folder, Log: quiet})
			require.ErrorIs(t, err, easelsql.ErrFolder)
			require.ErrorContains(t, err, "contains the data directory "+data)
		}
		_, err := openIn(t, data)
		require.NoError(t, err)
	}
	linked := filepath.Join(base, "linked")
	require.NoError(t, os.Mkdir(linked, 0o700))
	require.NoError(t, os.Link(filepath.Join(data, "easel.db"), filepath.Join(linked, "shop.db")))
	_, err := New(t.Context(), Config{Dir: data, SQLiteDir: linked, Log: quiet})
	require.ErrorContains(t, err, filepath.Join(linked, "shop.db")+" is "+filepath.Join(data, "easel.db"))
}
