"""What is measured on real hardware, or asked of packages that hold such measurements. Shell."""
