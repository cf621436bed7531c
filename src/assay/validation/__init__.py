"""Check what is about to be scored: findings about runs and judgments, with what to do about each."""
