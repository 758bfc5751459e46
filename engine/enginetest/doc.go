// Package enginetest contains the test kit of the engine: conformance cases, stand-ins for the
// ports while a case is played, a player, and a comparator of observations and expectations. It
// serves the engine's own tests, `easel test`, `easel record` and `easel replay`, the browser
// module and authors of ports.
//
// # Cases
//
// A [Case] is a small canvas with one or more runs; each run has inputs, scripted answers of the
// ports and an expectation. A [Player] turns a case into an observation; [Compare] lists the
// differences between the two. Matchers replace values in expectations: {"$ignore": true},
// {"$present": true}, {"$contains": [..]}, {"$starts": text}, {"$lacks": [..]}, {"$json": value}.
// Free in a comparison are times, ids, how a message is cut into pieces, the order of object
// members, and the wording of errors beyond the words a case names.
//
// # Stand-ins
//
// [Model], [Retriever], [Files], [Voice], [Memory], [HTTP], [Tools], [Code], [Cancel], [Clock] and
// [IDs] implement the engine's ports from a script, without a socket, a file or a timer, so that
// every play produces the same bytes on every platform, browsers included. [EchoTool] is a
// component whose params define its behaviour.
//
// # Recorded answers
//
// A case made by [Player.Record] also has the answers of tools and MCP servers ([OutsideCall])
// with their arguments. A call whose arguments are not recorded fails, and [Compare] names the
// argument that differs. Values of secrets are left out ([SecretsTape]).
//
// # Kits
//
// The Exercise functions check an implementation of a port against the engine's requirements. They
// return errors instead of taking a *testing.T, because this package is linked into programs.
//
// Nothing here imports testing, the network or the operating system.
package enginetest
