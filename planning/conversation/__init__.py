"""What a question leans on, asks for, and is written in."""
