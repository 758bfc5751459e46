package profile

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Write prints the profile as text.
func (p *Profile) Write(w io.Writer) error {
	if len(p.Steps) == 0 {
		_, err := fmt.Fprintln(w, "profile: no node has finished")
		return err
	}
	fmt.Fprintf(w, "profile: %.3f s, of which the critical path needs %.3f s; "+
		"%.3f s of work, at most %d nodes at once; %.3f s in queues\n", p.Wall, p.Critical, p.Work, p.Slots, p.Queued)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "start\twork\tqueued\theld\t  waited for")
	for _, s := range p.Path {
		if s.Work+s.Queued+s.Held < negligible {
			continue
		}
		name := s.Node
		if s.Name != "" && s.Name != s.Node {
			name = s.Name + " (" + s.Node + ")"
		}
		if s.Run > 1 {
			name = fmt.Sprintf("%s, execution %d", name, s.Run)
		}
		fmt.Fprintf(table, "%.3f\t%.3f\t%.3f\t%.3f\t  %s\n", s.Start, s.Work, s.Queued, s.Held, name)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "one more slot, %d instead of %d: %.3f s less\n",
		p.Slots+1, p.Slots, p.Saved); err != nil {
		return err
	}
	return p.writeBars(w)
}

// negligible is the least duration of a printed step of the path, in seconds.
const negligible = 0.0005
