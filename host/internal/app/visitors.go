package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/upload"
)

// VisitorClaim has the statements of a request of an embedding page about its visitor.
type VisitorClaim struct {
	Session   string // id of the conversation, which is random and known to its visitor only
	User      string // id of the visitor at the site
	Signature string // of User by the site, see [SignVisitor]
}

// Bounds of signed users.
const (
	longestEndUser = 256 // bytes of an id
	// SignatureLasts bounds the time until a signature expires. It finds times in milliseconds, and
	// limits how long a signature that leaked is of use.
	SignatureLasts = 7 * 24 * time.Hour
)

// SignVisitor returns the signature of a user id for the page of a canvas, EXPIRES.HMAC: the time
// it expires, in Unix seconds, and the hex HMAC-SHA256 with the signing secret of the embed token
// over "CANVAS\nEXPIRES\nUSER".
func SignVisitor(secret, canvas, user string, expires time.Time) string {
	until := strconv.FormatInt(expires.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(canvas + "\n" + until + "\n" + user))
	return until + "." + hex.EncodeToString(mac.Sum(nil))
}

// Identify returns a principal with what its request proves about the visitor of an embedding page:
// a signed user id, or knowledge of the session. A signature that is not valid is refused. Errors:
// those of [Error].
func (a *Accounts) Identify(ctx context.Context, who Principal, claim VisitorClaim) (Principal, error) {
	switch {
	case claim.Signature != "":
		if err := a.checkSignature(ctx, who, claim); err != nil {
			return who, err
		}
		who.EndUser, who.Visitor = claim.User, store.VisitorOfUser(who.Canvas, claim.User)
	case claim.Session != "" && who.Embeds:
		who.Visitor = store.VisitorOfSession(claim.Session)
	}
	return who, nil
}

// checkSignature refuses a signature that the site of the embed token has not made.
func (a *Accounts) checkSignature(ctx context.Context, who Principal, claim VisitorClaim) error {
	switch {
	case !who.Embeds || who.Canvas == upload.AllCanvases:
		return Forbidden("user_signature is accepted with the embed token of one canvas only")
	case claim.User == "" || len(claim.User) > longestEndUser || !PlainText(claim.User):
		return Forbidden("user_signature: user_id must have 1 to %d bytes of UTF-8 text without control characters",
			longestEndUser)
	}
	text, _, _ := strings.Cut(claim.Signature, ".")
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return Forbidden("user_signature must be EXPIRES.HMAC, with the time it expires in Unix seconds")
	}
	now, expires := a.now(), time.Unix(seconds, 0)
	switch {
	case expires.Before(now):
		return Forbidden("user_signature expired at %s; sign the user id again", expires.UTC().Format(time.RFC3339))
	case expires.After(now.Add(SignatureLasts)):
		return Forbidden("user_signature must expire within %d hours, in Unix seconds", int(SignatureLasts.Hours()))
	}
	secret, err := a.store.Betas.ReadSecret(ctx, who.Tenant, who.ID)
	if err != nil {
		return err
	}
	want := SignVisitor(secret, who.Canvas, claim.User, expires)
	if secret == "" || !hmac.Equal([]byte(want), []byte(claim.Signature)) {
		return Forbidden("user_signature does not match: sign CANVAS, EXPIRES and user_id, a line each, " +
			"with the signing secret of the embed token")
	}
	return nil
}

func (a *Accounts) now() time.Time {
	if a.clock != nil {
		return a.clock()
	}
	return time.Now()
}

// visits reports whether a principal is the visitor to whom something belongs.
func (p Principal) visits(v store.Visitor) bool { return v != "" && v == p.Visitor }

// MayRead reports whether a principal may read what a run of a canvas that it may use said and did.
// The visitor of an embedding page may for its own conversation: with the id of its session, or
// with the user id that the site has signed. The id of a run alone is not enough.
func (p Principal) MayRead(run Run) bool {
	return !p.Embeds || p.visits(run.Visitor)
}

// MayStop reports whether a principal may stop a run of a canvas that it may use. Clients of the
// original stop runs of visitors with their id alone, which is random, or with that of the session.
func (p Principal) MayStop(run Run) bool {
	anonymous := run.Visitor != "" && !run.Visitor.Verified() && p.Visitor == ""
	return !p.Embeds || p.visits(run.Visitor) || anonymous
}

// mayReadSession reports whether a principal may read a session of a canvas that it may use.
func (p Principal) mayReadSession(v Session) bool { return !p.Embeds || p.visits(v.Visitor) }

// mayContinue reports whether a principal may ask the next question of a session: its visitor, or
// for a session that is not a visitor's a member or an API client.
func (p Principal) mayContinue(v Session) bool {
	if p.Embeds {
		return p.visits(v.Visitor)
	}
	return v.Visitor == ""
}

// visitorOf returns the visitor to whom a new session of a principal belongs.
func (p Principal) visitorOf(session string) store.Visitor {
	switch {
	case !p.Embeds:
		return ""
	case p.EndUser != "":
		return p.Visitor
	}
	return store.VisitorOfSession(session)
}

// Files returns the principal as a party of uploaded files; canvas is the one in the request, ""
// when it names none.
func (p Principal) Files(canvas string) upload.Party {
	if !p.Embeds {
		return upload.Member(p.Tenant)
	}
	if canvas == "" {
		canvas = p.Canvas
	}
	return upload.Party{Tenant: p.Tenant, By: upload.ByVisitor, Canvas: canvas, Visitor: p.Visitor}
}

// Starter is who started or answered a run.
type Starter = runs.Principal

// StartedBy returns who started a run.
func StartedBy(v Run) runs.Principal { return runs.PrincipalOf(v.Principal) }

// StartedByWebhook returns who starts the runs of the webhook of a canvas.
func StartedByWebhook(canvas string) runs.Principal {
	return runs.Principal{Kind: runs.ByWebhook, ID: canvas}
}

// Starts reports whether a principal is who started a run.
func (p Principal) Starts(v Run) bool {
	by := StartedBy(v)
	return by.User != "" && by.User == p.User && !p.Embeds
}

// Started returns the principal in the form that the run it starts has.
func (p Principal) Started() runs.Principal {
	return runs.Principal{Kind: p.Kind, ID: p.ID, User: p.User, EndUser: p.EndUser}
}
