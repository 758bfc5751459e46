package wattest

import "strings"

// opcodes maps instruction names to their bytes. The numeric block is listed in
// the order of the binary format.
var opcodes = func() map[string][]byte {
	t := map[string][]byte{
		"unreachable": {0x00}, "nop": {0x01}, "block": {0x02}, "loop": {0x03}, "if": {0x04}, "else": {0x05},
		"end": {0x0b},
		"br":  {0x0c}, "br_if": {0x0d}, "br_table": {0x0e}, "return": {0x0f}, "call": {0x10}, "call_indirect": {0x11},
		"drop": {0x1a}, "select": {0x1b}, "local.get": {0x20}, "local.set": {0x21}, "local.tee": {0x22},
		"global.get": {0x23}, "global.set": {0x24}, "table.get": {0x25}, "table.set": {0x26},
		"memory.size": {0x3f, 0}, "memory.grow": {0x40, 0},
		"i32.const": {0x41}, "i64.const": {0x42}, "ref.null": {0xd0}, "ref.is_null": {0xd1}, "ref.func": {0xd2},
		"memory.copy": {0xfc, 10, 0, 0}, "memory.fill": {0xfc, 11, 0}, "table.grow": {0xfc, 15, 0},
		"i8x16.splat": {0xfd, 15}, "i8x16.extract_lane_u": {0xfd, 22}, "i32x4.add": {0xfd, 0xae, 1},
	}
	list := func(first byte, names string) {
		for i, name := range strings.Fields(names) {
			t[name] = []byte{first + byte(i)}
		}
	}
	list(0x28, `i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s i32.load16_u
		i64.load8_s i64.load8_u i64.load16_s i64.load16_u i64.load32_s i64.load32_u
		i32.store i64.store f32.store f64.store i32.store8 i32.store16 i64.store8 i64.store16 i64.store32`)
	list(0x45, `i32.eqz i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u i32.ge_s i32.ge_u
		i64.eqz i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u i64.le_s i64.le_u i64.ge_s i64.ge_u`)
	list(0x67, `i32.clz i32.ctz i32.popcnt i32.add i32.sub i32.mul i32.div_s i32.div_u i32.rem_s i32.rem_u
		i32.and i32.or i32.xor i32.shl i32.shr_s i32.shr_u i32.rotl i32.rotr
		i64.clz i64.ctz i64.popcnt i64.add i64.sub i64.mul i64.div_s i64.div_u i64.rem_s i64.rem_u
		i64.and i64.or i64.xor i64.shl i64.shr_s i64.shr_u i64.rotl i64.rotr`)
	list(0xa7, "i32.wrap_i64")
	list(0xac, "i64.extend_i32_s i64.extend_i32_u")
	return t
}()

// isMemory reports whether an instruction has alignment and offset.
func isMemory(name string) bool {
	return strings.Contains(name, ".load") || strings.Contains(name, ".store")
}

var valTypes = map[string]byte{
	"i32": 0x7f, "i64": 0x7e, "f32": 0x7d, "f64": 0x7c, "v128": 0x7b, "funcref": 0x70, "externref": 0x6f,
}
