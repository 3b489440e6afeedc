"""What two or more planners share, all of it kernels."""
