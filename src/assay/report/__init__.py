"""Values to show, and the ways to show them: a folder for each subject, and `drawing` for what they share."""
