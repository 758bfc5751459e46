package patch

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/easel-canvas/easel/engine"
)

// TestCasesOfPage tests the package with the cases of the page's patches.
func TestCasesOfPage(t *testing.T) {
	data, err := os.ReadFile("../../../../web/test/patches.json")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := engine.ParseJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases.Elements() {
		t.Run(c.Get("name").Str(), func(t *testing.T) {
			changes, err := FromValue(c.Get("patch"))
			if err != nil {
				t.Fatal(err)
			}
			before, after := c.Get("before"), c.Get("after")
			got, err := Apply(before, changes)
			if want := c.Get("error").Str(); want != "" {
				if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), want) {
					t.Fatalf("got error %v, want %s", err, want)
				}
				return
			}
			if err != nil || got.JSON() != after.JSON() {
				t.Fatalf("got %s, %v, want %s", got.JSON(), err, after.JSON())
			}
			if back, err := Apply(after, Invert(changes)); err != nil || back.JSON() != before.JSON() {
				t.Fatalf("inverse: got %s, %v, want %s", back.JSON(), err, before.JSON())
			}
			if diff := Value(Diff(before, after)); c.Get("diff").True() && !same(diff, c.Get("patch")) {
				t.Fatalf("diff: got %s, want %s", diff.JSON(), c.Get("patch").JSON())
			}
		})
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                    "expected a list of changes",
		`[{"after":1}]`:                         "change 1: path: expected a list of member names",
		`[{"path":[]}]`:                         "change 1: before and after are both missing",
		`[{"path":[{}],"after":1}]`:             "change 1: path: {} is not a member name",
		`[{"path":["a"],"after":1,"at":"end"}]`: `change 1: at: "end" is not a position`,
		`[`:                                     "JSON",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
