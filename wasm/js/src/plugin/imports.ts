// The functions that a plugin may import, with their types. The kernel implements them.

// One letter per value, i for i32 and I for i64: iI:i is (i32 i64) -> i32.
const tables: Record<string, string> = {
  "easel:host/v1":
    "input_len=:i input_read=ii:i output_write=ii: error_write=ii: log=iii: emit=iii:i call=iii:i result_read=ii:i",
  "extism:host/env":
    "alloc=I:I free=I: length=I:I length_unsafe=I:I load_u8=I:i load_u64=I:I store_u8=Ii: store_u64=II: " +
    "input_length=:I input_offset=:I input_load_u8=I:i input_load_u64=I:I output_set=II: output_length=:I " +
    "output_offset=:I " +
    "error_set=I: error_get=:I reset=: memory_bytes=:I config_get=I:I var_get=I:I var_set=II: http_request=II:I " +
    "http_status_code=:i http_headers=:I log_trace=I: log_debug=I: log_info=I: log_warn=I: log_error=I: " +
    "get_log_level=:i",
  "extism:host/user":
    "easel_call=I:I easel_emit=I:I notify_logging_message=I: notify_progress=I: notify_prompt_list_changed=: " +
    "notify_resource_list_changed=: notify_resource_updated=I: notify_tool_list_changed=:",
  wasi_snapshot_preview1:
    "args_get=ii:i args_sizes_get=ii:i clock_res_get=ii:i clock_time_get=iIi:i environ_get=ii:i " +
    "environ_sizes_get=ii:i fd_advise=iIIi:i fd_allocate=iII:i fd_close=i:i fd_datasync=i:i fd_fdstat_get=ii:i " +
    "fd_fdstat_set_flags=ii:i fd_fdstat_set_rights=iII:i fd_filestat_get=ii:i fd_filestat_set_size=iI:i " +
    "fd_filestat_set_times=iIIi:i fd_pread=iiiIi:i fd_prestat_dir_name=iii:i fd_prestat_get=ii:i fd_pwrite=iiiIi:i " +
    "fd_read=iiii:i fd_readdir=iiiIi:i fd_renumber=ii:i fd_seek=iIii:i fd_sync=i:i fd_tell=ii:i fd_write=iiii:i " +
    "path_create_directory=iii:i path_filestat_get=iiiii:i path_filestat_set_times=iiiiIIi:i path_link=iiiiiii:i " +
    "path_open=iiiiiIIii:i path_readlink=iiiiii:i path_remove_directory=iii:i path_rename=iiiiii:i " +
    "path_symlink=iiiii:i " +
    "path_unlink_file=iii:i poll_oneoff=iiii:i proc_exit=i: proc_raise=i:i random_get=ii:i sched_yield=:i " +
    "sock_accept=iii:i sock_recv=iiiiii:i sock_send=iiiii:i sock_shutdown=ii:i",
};

/** imports are the functions that a plugin may use: module -> name -> type. */
export const imports: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries(tables).map(([module, text]) => [
    module,
    new Map(text.split(" ").map((entry) => entry.split("=") as [string, string])),
  ]),
);
