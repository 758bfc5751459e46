// Sources of guests for the tests of plugins, in Node and in a page.

const encoder = new TextEncoder();

/** imports are the imports of these guests, and a memory of one page. */
export const imports = `
	(import "easel:host/v1" "input_len" (func $input_len (result i32)))
	(import "easel:host/v1" "input_read" (func $input_read (param i32 i32) (result i32)))
	(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
	(import "easel:host/v1" "error_write" (func $error_write (param i32 i32)))
	(import "easel:host/v1" "log" (func $log (param i32 i32 i32)))
	(import "easel:host/v1" "emit" (func $emit (param i32 i32 i32) (result i32)))
	(import "easel:host/v1" "call" (func $call (param i32 i32 i32) (result i32)))
	(import "easel:host/v1" "result_read" (func $result_read (param i32 i32) (result i32)))
	(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
	(import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
	(memory (export "memory") 1)`;

/**
 * steps writes the body of easel_invoke: say TEXT, input, emit KIND TEXT, call JSON, fail TEXT,
 * spin.
 */
export function guest(...steps: string[]): string {
  let data = "";
  let code = "";
  let at = 1000;
  const put = (text: string): string => {
    const size = encoder.encode(text).length;
    data += `(data (i32.const ${at}) ${JSON.stringify(text).replace(/\\u00([0-9a-f]{2})/g, "\\$1")})\n`;
    at += size;
    return `i32.const ${at - size} i32.const ${size}`;
  };
  for (const step of steps) {
    const [, verb = "", rest = ""] = /^(\w+) ?([^]*)$/.exec(step) ?? [];
    switch (verb) {
      case "say":
        code += `${put(rest)} call $output_write\n`;
        break;
      case "input":
        code += "i32.const 20000 i32.const 20000 i32.const 20000 call $input_read call $output_write\n";
        break;
      case "emit":
        code += `i32.const ${rest[0]} ${put(rest.slice(2))} call $emit if i32.const 0 return end\n`;
        break;
      case "call":
        code += `i32.const 0 ${put(rest)} call $call drop i32.const 20000 i32.const 20000 i32.const 20000 call ` +
          `$result_read call $output_write\n`;
        break;
      case "fail":
        code += `${put(rest)} call $error_write i32.const 1 return\n`;
        break;
      case "spin":
        code += "loop $l br $l end\n";
        break;
      default:
        throw new Error(`no step ${step}`);
    }
  }
  return `(module${imports}${data}(func (export "easel_invoke") (result i32) ${code} i32.const 0))`;
}
