package redisdoor

import "errors"

var (
	// ErrOpenDoor is returned when the configuration would expose the door to other machines or
	// leave it without a password. The message names the setting that allows it.
	ErrOpenDoor = errors.New("redis door is not protected")

	// errProtocol closes a connection whose bytes are not the Redis protocol.
	errProtocol = errors.New("protocol error")
)
