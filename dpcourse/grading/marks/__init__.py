"""What a mark counts: course.toml, lateness, what is set by hand, and which marks have moved."""
