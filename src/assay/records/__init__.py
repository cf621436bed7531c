"""Records of an evaluation: reports, and manifests that make the numbers reproducible."""
