// The bundler copies the file and exports its address.
declare module "@jitl/quickjs-wasmfile-release-sync/wasm" {
  const address: string;
  export default address;
}

// The rest of the file lists packages, which are not offered; the bundler omits it.
declare module "pyodide/pyodide-lock.json" {
  export const info: Record<string, string>;
}
