// Package enginetest is what tests of the engine are made of: conformance cases, the stand-ins that
// answer for the outside world while a case is played, a player, and the comparator that holds what
// was shown against what was expected. It serves the engine's own tests, `easel test`, `easel
// record` and `easel replay`, the browser module and authors of ports.
//
// # Cases
//
// A [Case] is a small canvas with one or more runs; each run has inputs, scripted answers from
// outside and what must be seen. A [Player] turns a case into an observation; [Compare] lists the
// differences between the two. Matchers replace values in expectations: {"$ignore":
// true}, {"$present": true}, {"$contains": [..]}, {"$starts": text}, {"$lacks": [..]}, {"$json":
// value}. Free in a comparison are times, ids, how a message is cut into pieces, the order of
// object members, and the wording of errors beyond the words a case names.
//
// # Stand-ins
//
// [Model], [Retriever], [Files], [Voice], [Memory], [HTTP], [Tools], [Code], [Cancel], [Clock] and
// [IDs] answer the engine's ports from a script, without a socket, a file or a timer, so that two
// plays give the same bytes everywhere, in a page too. [EchoTool] is a component that does what its
// params say.
//
// # Recorded answers
//
// A case made by [Player.Record] also has the answers of tools and MCP servers ([OutsideCall])
// with their arguments. A call whose arguments are not recorded fails, and [Compare] names the
// argument that differs. Values of secrets are left out ([SecretsTape]).
//
// # Kits
//
// The Exercise functions check an implementation of a port against what the engine relies on. They
// give errors instead of taking a *testing.T, because this package is linked into programs.
//
// Nothing here imports testing, the network or the operating system.
package enginetest
