package cli

import (
	"flag"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine/nearest"
)

// didYouMean returns the end of a message about an unknown word: the most similar known one, or "".
func didYouMean(word string, known []string) string {
	if match, ok := nearest.Match(word, known); ok {
		return fmt.Sprintf(" (did you mean %s?)", match)
	}
	return ""
}

// find returns the command with a name.
func find(name string) (*command, error) {
	names := []string{"help"}
	for _, c := range commands() {
		if c.name == name {
			return &c, nil
		}
		names = append(names, c.name)
	}
	return nil, misuse("", "unknown command %q%s; see `easel help`", name, didYouMean(name, names))
}

// verb returns the verb of c with a name.
func (c *command) verb(name string) (*command, error) {
	var names []string
	for _, v := range c.verbs() {
		short := strings.TrimPrefix(v.name, c.name+" ")
		if short == name {
			return &v, nil
		}
		names = append(names, short)
	}
	return nil, misuse(c.name, "unknown verb %q%s", name, didYouMean(name, names))
}

// undefinedFlag is the prefix of package flag's error about an unknown flag.
const undefinedFlag = "flag provided but not defined: -"

// flagError rewords an error of package flag in the style of the help and suggests a similar flag
// for an unknown one.
func flagError(fs *flag.FlagSet, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), undefinedFlag)
	if !unknown {
		return err
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, dashed(f.Name)) })
	return fmt.Errorf("unknown flag %s%s", dashed(name), didYouMean(dashed(name), known))
}

// dashed returns a flag as written on the command line.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
