"""What each mode takes: its words are read and refused here, before anything heavy is imported."""
