// The imports of the contract, easel:host/v1.

// @ts-ignore: decorator
@external("easel:host/v1", "input_len")
export declare function input_len(): i32;
// @ts-ignore: decorator
@external("easel:host/v1", "input_read")
export declare function input_read(p: usize, n: i32): i32;
// @ts-ignore: decorator
@external("easel:host/v1", "output_write")
export declare function output_write(p: usize, n: i32): void;
// @ts-ignore: decorator
@external("easel:host/v1", "error_write")
export declare function error_write(p: usize, n: i32): void;
// @ts-ignore: decorator
@external("easel:host/v1", "log")
export declare function log(level: i32, p: usize, n: i32): void;
// @ts-ignore: decorator
@external("easel:host/v1", "emit")
export declare function emit(kind: i32, p: usize, n: i32): i32;
// @ts-ignore: decorator
@external("easel:host/v1", "call")
export declare function call(format: i32, p: usize, n: i32): i32;
// @ts-ignore: decorator
@external("easel:host/v1", "result_read")
export declare function result_read(p: usize, n: i32): i32;
