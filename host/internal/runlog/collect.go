package runlog

// Selection is which records of a kind a lease collects, see [Config].Collect.
type Selection int

// The selections.
const (
	SelectNone Selection = iota
	SelectAll
	SelectEnds // the first and the last one
)

// collectMost bounds the bytes that a lease collects: those of larger runs are read from the log.
const collectMost = 256 << 10

// collection has the selected records of a run, which share their data with the log's memory.
type collection struct {
	choose  func(kind string) Selection
	records []Record
	size    int
	over    bool           // there were too many
	last    map[string]int // index of the last record by kind, of those of which only the ends count
}

// newCollection returns the collection of a lease; nil collects nothing.
func newCollection(choose func(kind string) Selection) *collection {
	if choose == nil {
		return nil
	}
	return &collection{choose: choose, last: map[string]int{}}
}

func (c *collection) add(records []Record) {
	if c == nil || c.over {
		return
	}
	for _, r := range records {
		r.Known = nil
		switch c.choose(r.Kind) {
		case SelectNone:
			continue
		case SelectEnds:
			at, again := c.last[r.Kind]
			if again && at >= 0 {
				c.drop(at)
			}
			c.last[r.Kind] = len(c.records)
			if !again {
				c.last[r.Kind] = -1
			}
		}
		c.records = append(c.records, r)
		c.size += len(r.Data)
	}
	if c.size > collectMost {
		c.records, c.over = nil, true
	}
}

// drop empties a record that another one replaces.
func (c *collection) drop(at int) {
	c.size -= len(c.records[at].Data)
	c.records[at] = Record{}
}

// stored sets the position of the records that a message has stored, which are the last ones.
func (c *collection) stored(before, at uint64) {
	if c == nil {
		return
	}
	for i := len(c.records) - 1; i >= 0; i-- {
		r := &c.records[i]
		if r.At > 0 {
			return
		}
		if r.Seq > 0 && r.Seq < before {
			r.At = at
		}
	}
}

// Collected returns the records that [Config].Collect selects, if the lease wrote all of the run
// and they are few enough. They must not be changed.
func (e *Lease) Collected() (records []Record, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.collected == nil || e.collected.over {
		return nil, false
	}
	for _, r := range e.collected.records {
		if r.Seq > 0 {
			records = append(records, r)
		}
	}
	e.collected = nil
	return records, true
}
