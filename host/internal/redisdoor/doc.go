// Package redisdoor supports the Redis keys by which other programs control runs of the original:
// "{task}-cancel" cancels a run, "{task}-logs" and "{task}-{message}-logs" hold traces of tool
// calls.
//
// A [Door] is a small server that speaks the Redis protocol and stores the keys in the run log, so
// that no Redis server is required. A [Bridge] watches an existing Redis or Valkey.
//
// The door is safe against untrusted clients: it listens on loopback and requires a password unless
// configured otherwise, bounds what it reads before it allocates memory, and serves no other keys
// or commands.
//
// Source: key names of RAGFlow's canvas and task services (behaviour only).
package redisdoor
