package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"unicode/utf8"
)

const subjectWidth = 72

// subject matches an area, a colon and a verb.
var subject = regexp.MustCompile(`^[a-z][a-z0-9/_.-]*(, [a-z][a-z0-9/_.-]*)*: ([a-z]+)\b`)

// notImperative matches verbs in third person or past tense: "adds", "added", "adding".
var notImperative = regexp.MustCompile(`([^s]s|[^e]ed|ing)$`)

// imperatives are verbs that match notImperative.
var imperatives = map[string]bool{
	"bring": true, "string": true, "ping": true, "shed": true, "embed": true, "alias": true, "focus": true,
}

// subjects checks the commits since the rule was introduced. Without history, as in an unpacked
// archive, there are none.
func subjects(tree) ([]measure, error) {
	if err := exec.Command("git", "rev-parse", "--verify", "--quiet", "HEAD").Run(); err != nil {
		return nil, nil //nolint:nilerr // a repository without a commit has no subjects
	}
	first, err := git("log", "--diff-filter=A", "--format=%H", "--", "build/style/subject.go")
	if err != nil || first == "" {
		return nil, err
	}
	since := first[strings.LastIndexByte("\n"+first, '\n'):]
	log, err := git("log", "--no-merges", "--format=%h %s", since+"..HEAD")
	if err != nil {
		return nil, err
	}
	var found []measure
	for line := range strings.SplitSeq(log, "\n") {
		hash, text, _ := strings.Cut(line, " ")
		if problem := subjectProblem(text); hash != "" && problem != "" {
			found = append(found, measure{rule: "commit", key: hash, n: 1, where: []string{text + ": " + problem}})
		}
	}
	return found, nil
}

func subjectProblem(text string) string {
	m := subject.FindStringSubmatch(text)
	switch {
	case utf8.RuneCountInString(text) > subjectWidth:
		return fmt.Sprintf("longer than %d characters", subjectWidth)
	case m == nil:
		return "want area: what it does, as in `engine: resolve refs inside lists`"
	case notImperative.MatchString(m[2]) && !imperatives[m[2]]:
		return fmt.Sprintf("%q is not an imperative verb", m[2])
	}
	return ""
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
