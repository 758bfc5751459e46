// Package redisdoor honours the keys by which outside programs steer runs of
// the original through Redis: "{task}-cancel" stops a run, "{task}-logs" and
// "{task}-{message}-logs" hold traces of tool calls.
//
// There are two ways. The [Door] is a small server that speaks Redis's
// protocol itself and keeps the keys in the run log, so nothing has to be
// installed. The [Bridge] watches a Redis or Valkey that is there already.
//
// The door is made to be touched by strangers: it listens on loopback and
// wants a password unless told otherwise, reads no more than it has room for,
// and serves no other keys and no other commands.
//
// Source: the key names are those of RAGFlow's canvas and task services
// (behaviour read, written anew).
package redisdoor
