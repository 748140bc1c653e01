"""What a release is still good for, beside what it risks."""
