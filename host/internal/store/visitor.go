package store

import "strings"

// Visitor is the visitor of an embedding page to whom a conversation belongs, with what its runs
// store. "" is none: conversations of members and of API clients.
//
// A visitor is known by the id of the session, which is random and known to this visitor only, or
// by the user id that the site has signed. What a request claims without a signature is no part of
// it.
type Visitor string

const (
	ofSession = "session:"
	ofUser    = "user:"
)

// VisitorOfSession returns the visitor who knows the id of a session.
func VisitorOfSession(session string) Visitor { return Visitor(ofSession + session) }

// VisitorOfUser returns the visitor of a canvas whose site has signed a user id.
func VisitorOfUser(canvas, user string) Visitor { return Visitor(ofUser + canvas + ":" + user) }

// Verified reports whether a site has signed the user id of the visitor.
func (v Visitor) Verified() bool { return strings.HasPrefix(string(v), ofUser) }

// byUser adds that something is of a user id, and belongs to a visitor; "" adds nothing. Without a
// visitor it leaves out what belongs to visitors who only claim to be this user.
func (w *where) byUser(user string, v Visitor) {
	w.equal("user_id", user)
	switch {
	case v != "":
		w.add("visitor <> ''") // the condition of an index
		w.equal("visitor", string(v))
	case user != "":
		w.add("(visitor = '' OR visitor >= '" + ofUser + "' AND visitor < 'user;')") // ; follows :
	}
}
