// The interpreter of plugins in JavaScript: QuickJS with the functions of easel:host/v1. The source
// of a plugin is the section easel.js of its file; prelude.js makes what it sees of the host.
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

#define HOST(name) __attribute__((import_module("easel:host/v1"), import_name(#name)))
HOST(input_len) int host_input_len(void);
HOST(input_read) int host_input_read(char *p, int n);
HOST(output_write) void host_output_write(const char *p, int n);
HOST(error_write) void host_error_write(const char *p, int n);
HOST(log) void host_log(int level, const char *p, int n);
HOST(emit) int host_emit(int kind, const char *p, int n);
HOST(call) int host_call(int format, const char *p, int n);
HOST(result_read) int host_result_read(char *p, int n);

extern const char prelude[];  // made of prelude.js
enum { STACK = 160 << 10 };   // bytes of JavaScript's stack, less than the module has

static JSContext *context;

// text copies n bytes that read gives into a string.
static JSValue text(JSContext *ctx, int n, int (*read)(char *, int)) {
  char *bytes = js_malloc(ctx, n + 1);
  if (!bytes) return JS_EXCEPTION;
  n = read(bytes, n);
  JSValue v = JS_NewStringLen(ctx, bytes, n);
  js_free(ctx, bytes);
  return v;
}

static JSValue input(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  return text(ctx, host_input_len(), host_input_read);
}

// write is output (magic 0) and error (magic 1).
static JSValue write(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv, int magic) {
  size_t n;
  const char *p = JS_ToCStringLen(ctx, &n, argv[0]);
  if (!p) return JS_EXCEPTION;
  (magic ? host_error_write : host_output_write)(p, n);
  JS_FreeCString(ctx, p);
  return JS_UNDEFINED;
}

// send is log (magic 0) and emit (magic 1).
static JSValue send(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv, int magic) {
  int kind, over = 0;
  size_t n;
  if (JS_ToInt32(ctx, &kind, argv[0])) return JS_EXCEPTION;
  const char *p = JS_ToCStringLen(ctx, &n, argv[1]);
  if (!p) return JS_EXCEPTION;
  if (magic) {
    over = host_emit(kind, p, n);
  } else {
    host_log(kind, p, n);
  }
  JS_FreeCString(ctx, p);
  return JS_NewBool(ctx, over);
}

// ask sends a request and gives the answer; null says that the call is cancelled.
static JSValue ask(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  size_t n;
  const char *p = JS_ToCStringLen(ctx, &n, argv[0]);
  if (!p) return JS_EXCEPTION;
  int length = host_call(0, p, n);
  JS_FreeCString(ctx, p);
  return length < 0 ? JS_NULL : text(ctx, length, host_result_read);
}

// load runs the source of the plugin as a module and gives what it exports.
static JSValue load(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  size_t n;
  const char *source = JS_ToCStringLen(ctx, &n, argv[0]);
  if (!source) return JS_EXCEPTION;
  JSValue v = JS_Eval(ctx, source, n, "plugin.js", JS_EVAL_TYPE_MODULE);
  JS_FreeCString(ctx, source);
  if (JS_IsException(v)) return v;
  JS_FreeValue(ctx, v);
  static const char take[] = "import * as plugin from 'plugin.js'; globalThis.plugin = plugin;";
  v = JS_Eval(ctx, take, sizeof take - 1, "load.js", JS_EVAL_TYPE_MODULE);
  if (JS_IsException(v)) return v;
  JS_FreeValue(ctx, v);
  JSValue global = JS_GetGlobalObject(ctx);
  v = JS_GetPropertyStr(ctx, global, "plugin");
  JS_FreeValue(ctx, global);
  return v;
}

// run_jobs runs what promises wait for; false when one of the jobs failed.
static JSValue run_jobs(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  JSContext *of;
  int left;
  while ((left = JS_ExecutePendingJob(JS_GetRuntime(ctx), &of)) > 0) continue;
  return left < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

static const JSCFunctionListEntry functions[] = {
  JS_CFUNC_DEF("input", 0, input), JS_CFUNC_MAGIC_DEF("output", 1, write, 0), JS_CFUNC_MAGIC_DEF("error", 1, write, 1),
  JS_CFUNC_MAGIC_DEF("log", 2, send, 0), JS_CFUNC_MAGIC_DEF("emit", 2, send, 1), JS_CFUNC_DEF("ask", 1, ask),
  JS_CFUNC_DEF("load", 1, load), JS_CFUNC_DEF("runJobs", 0, run_jobs),
};

// only refuses imports: a plugin is one file.
static JSModuleDef *only(JSContext *ctx, const char *name, void *opaque) {
  JS_ThrowReferenceError(ctx, "import of '%s': a plugin is one file, without imports; bundle it first", name);
  return NULL;
}

static void report(JSContext *ctx) {
  JSValue e = JS_GetException(ctx);
  size_t n;
  const char *p = JS_ToCStringLen(ctx, &n, e);
  if (p) host_error_write(p, n);
  JS_FreeCString(ctx, p);
  JS_FreeValue(ctx, e);
}

// start makes the context and runs the prelude, which gives the function that answers calls.
static int start(void) {
  JSRuntime *runtime = JS_NewRuntime();
  if (!runtime || !(context = JS_NewContext(runtime))) abort();
  JS_SetMaxStackSize(runtime, STACK);
  JS_SetModuleLoaderFunc(runtime, NULL, only, NULL);
  JSValue host = JS_NewObject(context), global = JS_GetGlobalObject(context);
  JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof functions[0]);
  JS_SetPropertyStr(context, global, "host", host);
  JSValue v = JS_Eval(context, prelude, strlen(prelude), "easel.js", JS_EVAL_TYPE_GLOBAL);
  JS_FreeValue(context, global);
  if (!JS_IsException(v)) return 0;
  report(context);
  return 1;
}

// enter calls one of the functions that the prelude keeps under the name easel.
static int enter(const char *name) {
  if (!context && start()) return 1;
  JSValue global = JS_GetGlobalObject(context);
  JSValue easel = JS_GetPropertyStr(context, global, "easel"), f = JS_GetPropertyStr(context, easel, name);
  JSValue v = JS_Call(context, f, easel, 0, NULL);
  int failed = 1;
  if (JS_IsException(v)) {
    report(context);
  } else {
    failed = JS_ToBool(context, v);
  }
  JS_FreeValue(context, v);
  JS_FreeValue(context, f);
  JS_FreeValue(context, easel);
  JS_FreeValue(context, global);
  return failed;
}

__attribute__((export_name("easel_invoke"))) int easel_invoke(void) { return enter("invoke"); }
__attribute__((export_name("easel_check"))) int easel_check(void) { return enter("check"); }
__attribute__((export_name("easel_describe"))) int easel_describe(void) { return enter("describe"); }
