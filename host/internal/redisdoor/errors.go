package redisdoor

import "errors"

var (
	// ErrOpenDoor says that the door would be open to more than this machine, or
	// to everybody on it; set what the text names if that is meant.
	ErrOpenDoor = errors.New("redis door is not protected")

	// errProtocol ends a connection that does not speak the protocol.
	errProtocol = errors.New("protocol error")
)
