"""What tests share: data, programs, and ways to run and watch them."""
