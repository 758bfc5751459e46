package api

import (
	"net/http"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Kind is why a request failed. Our own API and OpenAI's form answer its HTTP status and code;
// faces of other systems have a table from kinds to their numbers.
type Kind uint8

// Kinds of failures. RAGFlow's API distinguishes some that are the same on our own.
const (
	// KindInternal is a fault of the host; see its log.
	KindInternal Kind = iota
	// KindFailed is work that the host could not do, or only in part; see its message.
	KindFailed
	// KindUnavailable is a host that cannot answer now.
	KindUnavailable
	// KindStorageFull is a host that cannot store anything.
	KindStorageFull

	// KindBadRequest is a request that cannot be read, or lacks what it needs.
	KindBadRequest
	// KindRefused is a request that a limit or a check in front of its handler refuses.
	KindRefused
	// KindBadArgument is a member or parameter that is missing or has a wrong type or value.
	KindBadArgument
	// KindInvalid is a request of right types whose values cannot be used.
	KindInvalid

	// KindUnauthorized is a request without a valid key, token or login.
	KindUnauthorized
	// KindBadCredentials is a key or a password that is wrong.
	KindBadCredentials
	// KindForbidden is a principal without the scope for the request.
	KindForbidden
	// KindNotOwner is a principal without access to the record.
	KindNotOwner

	// KindNotFound is a record that the request names and the principal does not have, or that is
	// in a state which does not allow the request.
	KindNotFound
	// KindNoResource is an address or a part of a record that does not exist.
	KindNoResource
	// KindExists is a name or an id that is taken.
	KindExists
	// KindChanged is a record with a newer revision than the request expects.
	KindChanged
	// KindBusy is a session with another turn in progress.
	KindBusy

	// KindTimeout is a body that did not arrive in time.
	KindTimeout
	// KindTooLarge is a body that is larger than the route accepts.
	KindTooLarge
	// KindLongURL is an address that is longer than the host accepts.
	KindLongURL
	// KindEncoding is a body in an encoding that is not accepted.
	KindEncoding
	// KindTooMany is a principal or an address with too many requests.
	KindTooMany

	kinds // how many there are
)

// meanings are the HTTP status and the code of each kind.
var meanings = [kinds]struct {
	status int
	code   string
}{
	KindInternal:       {http.StatusInternalServerError, engine.CodeInternal},
	KindFailed:         {http.StatusInternalServerError, engine.CodeInternal},
	KindUnavailable:    {http.StatusServiceUnavailable, "unavailable"},
	KindStorageFull:    {http.StatusInsufficientStorage, "storage_full"},
	KindBadRequest:     {http.StatusBadRequest, "bad_request"},
	KindRefused:        {http.StatusBadRequest, "bad_request"},
	KindBadArgument:    {http.StatusUnprocessableEntity, app.CodeBadArgument},
	KindInvalid:        {http.StatusBadRequest, app.CodeBadArgument},
	KindUnauthorized:   {http.StatusUnauthorized, "unauthorized"},
	KindBadCredentials: {http.StatusUnauthorized, "unauthorized"},
	KindForbidden:      {http.StatusForbidden, app.CodeForbidden},
	KindNotOwner:       {http.StatusForbidden, app.CodeForbidden},
	KindNotFound:       {http.StatusNotFound, app.CodeNotFound},
	KindNoResource:     {http.StatusNotFound, app.CodeNotFound},
	KindExists:         {http.StatusConflict, app.CodeExists},
	KindChanged:        {http.StatusConflict, app.CodeChanged},
	KindBusy:           {http.StatusConflict, "session_busy"},
	KindTimeout:        {http.StatusRequestTimeout, "body_timeout"},
	KindTooLarge:       {http.StatusRequestEntityTooLarge, "body_too_large"},
	KindLongURL:        {http.StatusRequestURITooLong, "url_too_long"},
	KindEncoding:       {http.StatusUnsupportedMediaType, "bad_encoding"},
	KindTooMany:        {http.StatusTooManyRequests, "rate_limited"},
}

// Kinds lists all kinds.
func Kinds() []Kind {
	list := make([]Kind, kinds)
	for i := range list {
		list[i] = Kind(i)
	}
	return list
}

// Code is the word for the kind on our own API.
func (k Kind) Code() string { return meanings[k].code }

// HTTP is the status for the kind on our own API.
func (k Kind) HTTP() int { return meanings[k].status }
