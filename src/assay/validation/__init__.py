"""Check runs, judgments and collections before scoring: findings, and how to fix each of them."""
