"""Other tools' faces: programs and scripts written for them run on assay unchanged."""
