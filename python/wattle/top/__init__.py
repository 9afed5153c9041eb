"""What PEs that run now are waiting for."""
