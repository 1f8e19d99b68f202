module conformance

go 1.26

tool github.com/bufbuild/protovalidate/tools/protovalidate-conformance

require (
	github.com/bufbuild/protovalidate/tools v1.2.2 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
