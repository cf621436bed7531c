"""What is kept of an evaluation: reports and manifests from which anyone can reproduce the numbers."""
