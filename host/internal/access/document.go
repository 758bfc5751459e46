package access

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Entries of the list of a document.
const (
	Everyone    = "all" // everyone who may search the dataset, visitors included
	userPrefix  = "user:"
	groupPrefix = "group:"
)

// MostEntries bounds the entries of a list.
const MostEntries = 100

// longestUser bounds the id of a user in an entry, in bytes.
const longestUser = 128

// List is who may read a document: entries are "all", "user:ID" and "group:NAME". It is comparable:
// the entries are sorted, with a line feed before each and one at the end. The zero value is no
// list, and differs from a list without entries.
type List string

// NoReaders is the list without entries.
const NoReaders List = "\n"

// ListOf returns the list of some entries. Errors: for an entry of another form, and for too many.
func ListOf(entries ...string) (List, error) {
	entries = slices.Clone(entries)
	slices.Sort(entries)
	entries = slices.Compact(entries)
	if len(entries) > MostEntries {
		return "", fmt.Errorf("access: %d entries, at most %d are allowed", len(entries), MostEntries)
	}
	var out strings.Builder
	for _, e := range entries {
		group, isGroup := strings.CutPrefix(e, groupPrefix)
		user, isUser := strings.CutPrefix(e, userPrefix)
		if e != Everyone && !(isGroup && GroupName(group)) && !(isUser && userName(user)) {
			return "", fmt.Errorf("access: entry %.60q: expected all, user:ID or group:NAME", e)
		}
		out.WriteByte('\n')
		out.WriteString(e)
	}
	return List(out.String()) + NoReaders, nil
}

func userName(id string) bool {
	return id != "" && len(id) <= longestUser && utf8.ValidString(id) && !strings.ContainsFunc(id, unicode.IsControl)
}

// Entries returns the entries in order; nil for no list.
func (l List) Entries() []string {
	switch l {
	case "":
		return nil
	case NoReaders:
		return []string{}
	}
	return strings.Split(strings.Trim(string(l), "\n"), "\n")
}

// MarshalJSON writes the entries, and null for no list.
func (l List) MarshalJSON() ([]byte, error) { return json.Marshal(l.Entries()) }

// UnmarshalJSON reads what [List.MarshalJSON] wrote.
func (l *List) UnmarshalJSON(text []byte) error {
	var entries []string
	if err := json.Unmarshal(text, &entries); err != nil {
		return err
	}
	*l = ""
	if entries == nil {
		return nil
	}
	var err error
	*l, err = ListOf(entries...)
	return err
}

// Reader is who reads documents: a member with its groups. The zero value is a visitor.
type Reader struct {
	User   string `json:"user,omitempty"`
	Groups Groups `json:"groups,omitempty"`
	// Whole may read all documents. It is for work of the host itself.
	Whole bool `json:"-"`
}

// Entries returns the entries of lists that let the reader in.
func (r Reader) Entries() []string {
	out := []string{Everyone}
	if r.User != "" {
		out = append(out, userPrefix+r.User)
	}
	for _, name := range r.Groups.Names() {
		out = append(out, groupPrefix+name)
	}
	return out
}

// In reports whether a list lets the reader in. No list lets only work of the host in.
func (r Reader) In(l List) bool {
	return r.Whole || slices.ContainsFunc(r.Entries(), func(e string) bool {
		return strings.Contains(string(l), "\n"+e+"\n")
	})
}

// Policy is who may read the documents of a dataset.
type Policy struct {
	// Enforce applies the lists of documents. Without it, who may use the dataset reads them all.
	Enforce bool `json:"enforce,omitempty"`
	// Default counts for documents without a list; without it such documents are read by no one.
	Default List `json:"default,omitzero"`
}

// Gate is a policy for one reader. It is comparable.
type Gate struct {
	Reader  Reader
	Default List
}

// Gate returns the gate for a reader; shut is false if the reader may read all documents.
func (p Policy) Gate(r Reader) (g Gate, shut bool) {
	return Gate{r, p.Default}, p.Enforce && !r.Whole
}

// Open reports whether the reader may read a document with a list.
func (g Gate) Open(own List) bool { return g.Reader.In(cmp.Or(own, g.Default)) }

// Allows reports whether a reader may read a document with a list.
func (p Policy) Allows(r Reader, own List) bool {
	g, shut := p.Gate(r)
	return !shut || g.Open(own)
}
