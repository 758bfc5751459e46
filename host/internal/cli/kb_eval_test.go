package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// collection writes a small corpus with queries and judgements, and returns the flags for them.
func collection(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	var flags []string
	for name, text := range map[string]string{
		"corpus": `{"id":"d1","title":"Returns","text":"Goods can be returned within 30 days."}` + "\n" +
			`{"id":"d2","title":"","text":"Shipping takes two days."}` + "\n",
		"queries": `{"id":"q1","text":"returning goods"}` + "\n" + `{"id":"q2","text":"nothing about it"}` + "\n",
		"qrels":   "query\tdocument\tgrade\nq1\td1\t2\nq2\td2\t1\n",
	} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		flags = append(flags, "--"+name, file)
	}
	return flags
}

func TestKBEval(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run.txt")
	args := append([]string{"kb", "eval", "--chunk", "none", "--run", run}, collection(t)...)
	code, out, errs := easel(t, args...)
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "mode=words,chunk=none,stemmer=porter,k1=0.9,b=0.4  0.5000   0.5000")
	found, err := os.ReadFile(run)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(found), "q1 d1 "), string(found))
	require.Equal(t, 1, strings.Count(string(found), "\n"))

	code, out, errs = easel(t, append(args, "--json", "--compare", "k1=1.2,b=0.75", "--k", "1,5")...)
	require.Equal(t, ExitOK, code, errs)
	var report struct {
		Mean     struct{ Recall map[string]float64 }
		Compared struct {
			Settings struct{ Index struct{ K1, B float64 } }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, map[string]float64{"1": 0.5, "5": 0.5}, report.Mean.Recall)
	require.Equal(t, 1.2, report.Compared.Settings.Index.K1)
}

func TestKBEvalMistakes(t *testing.T) {
	flags := collection(t)
	bad := filepath.Join(t.TempDir(), "bad")
	require.NoError(t, os.WriteFile(bad, []byte("q1\td1\t1\nnonsense\n"), 0o600))
	for want, more := range map[string][]string{
		"modes vectors and hybrid require --embed":             {"--mode", "hybrid"},
		`setting mode=x: unknown value (one of words, vectors`: {"--mode", "x"},
		`--compare: unknown setting "x" (one of mode`:          {"--compare", "x=1"},
		`--k: "0" is not a number from 1 to 100`:               {"--k", "0"},
		bad + ", line 2: 1 fields between tabs":                {"--qrels", bad},
		bad + ", line 1: not a JSON object with id and text":   {"--corpus", bad},
		"neither an http address nor a folder":                 {"--embed", bad},
		`unexpected argument "x"`:                              {"x"},
	} {
		code, _, errs := easel(t, append(append([]string{"kb", "eval"}, flags...), more...)...)
		require.Equal(t, ExitUsage, code, more)
		require.Contains(t, errs, want)
	}
	code, _, errs := easel(t, "kb", "eval", "--corpus", "x", "--queries", "x")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "--qrels is missing")
}

func TestReplayChunker(t *testing.T) {
	const file = "../knowledge/chunking/testdata/own__json_tags.json"
	code, out, errs := easel(t, "replay", "--chunker", file)
	require.Equal(t, ExitOK, code, errs)
	require.JSONEq(t,
		`{"case_id": "own__json_tags", "chunks": [{"text": "A line\nanother", "doc_type_kwd": "text"}]}`, out)
	code, _, errs = easel(t, "replay", "--chunker", file, "--canvas", "x")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "--chunker excludes a case")
	code, _, _ = easel(t, "replay", "--chunker", "nowhere.json")
	require.Equal(t, ExitUsage, code)
}
