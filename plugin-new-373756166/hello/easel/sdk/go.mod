module github.com/easel-canvas/easel/plugins/sdk

go 1.24.0

require github.com/extism/go-pdk v1.1.3
