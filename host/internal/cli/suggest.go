package cli

import (
	"flag"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine/nearest"
)

// didYouMean follows an unknown word in a message: the known one that is most like it, or nothing.
func didYouMean(word string, known []string) string {
	if match, ok := nearest.Match(word, known); ok {
		return fmt.Sprintf(" (did you mean %s?)", match)
	}
	return ""
}

// find gives the command of the program with a name.
func find(name string) (*command, error) {
	names := []string{"help"}
	for _, c := range commands() {
		if c.name == name {
			return &c, nil
		}
		names = append(names, c.name)
	}
	return nil, misuse("", "unknown command %q%s; `easel help` lists the commands", name, didYouMean(name, names))
}

// verb gives the command below c with a name.
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

// undefinedFlag is how package flag begins the error about a flag that is not there.
const undefinedFlag = "flag provided but not defined: -"

// flagError words an error of parsing flags as the help does, and names the flag that an unknown
// one is like.
func flagError(fs *flag.FlagSet, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), undefinedFlag)
	if !unknown {
		return err
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, dashed(f.Name)) })
	return fmt.Errorf("unknown flag %s%s", dashed(name), didYouMean(dashed(name), known))
}

// dashed is a flag as it is written on the command line.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
