"""Between the domain and protobuf: the only place that imports generated code."""
