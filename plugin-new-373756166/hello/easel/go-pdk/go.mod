module github.com/extism/go-pdk

go 1.21.0
