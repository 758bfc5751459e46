package envelope

import "github.com/easel-canvas/easel/host/internal/api"

// Success is the code of a successful answer.
const Success = 0

// codes are RAGFlow's numbers for kinds of failures, in the member code. They stand here only.
var codes = map[api.Kind]int{
	api.KindInternal:       100,
	api.KindBadRequest:     100,
	api.KindBadArgument:    101,
	api.KindInvalid:        102,
	api.KindNotFound:       102,
	api.KindExists:         102,
	api.KindNotOwner:       103,
	api.KindBusy:           106,
	api.KindForbidden:      108,
	api.KindBadCredentials: 109,
	api.KindRefused:        400,
	api.KindTimeout:        400,
	api.KindTooLarge:       400,
	api.KindLongURL:        400,
	api.KindEncoding:       400,
	api.KindTooMany:        400,
	api.KindUnauthorized:   401,
	api.KindNoResource:     404,
	api.KindChanged:        409,
	api.KindFailed:         500,
	api.KindUnavailable:    500,
	api.KindStorageFull:    500,
}

// Code is RAGFlow's number for a kind of failure.
func Code(k api.Kind) int { return codes[k] }
