// Constants of plugins and hosts: limits, and the names that the meter adds. The text of
// the contract is plugins/contract/contract.md.

/** abi is the version of the contract that this host supports. */
export const abi = 1;

/** meter are the names of plugins/meter. */
export const meter = {
  module: "easel:meter/v1",
  tick: "tick",
  fuel: "easel:fuel",
  refused: "easel:refused",
  interval: 10_000,
  overflow: -(2 ** 31),
};

/** startExport replaces a start function, see start.ts. */
export const startExport = "easel:start";

/** caps are limits per call, equal for all plugins. */
export const caps = {
  module: 16 << 20, piece: 1 << 20, emits: 10_000, hostCalls: 1_000, pieces: 10_000, stderr: 2 << 10,
  logs: 500, logBytes: 2 << 10, // kept
  logCalls: 10_000, // a flood beyond it is a fault
  kernel: 64 << 20, // Extism memory blocks alive at once
  scratch: 1 << 20, // Extism variables of a run
  request: 4 << 20, // one request of call
  random: 16 << 20, // bytes of random numbers, which a replay repeats
  grace: 250, // milliseconds a cancelled plugin has to finish
};
