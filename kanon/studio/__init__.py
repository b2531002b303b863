"""What only the dashboard needs: its state, its jobs, the frame around its pages."""
