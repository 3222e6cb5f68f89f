"""What a question asks and what a plan does, in forms that can be compared."""
