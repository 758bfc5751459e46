// The bundler copies the file and gives its address.
declare module "@jitl/quickjs-wasmfile-release-sync/wasm" {
  const address: string;
  export default address;
}
