"""The vocabulary of qkva: types and pure rules; imports nothing else of ours."""
