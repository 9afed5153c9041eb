"""One command for machines unlike the one this was made on: tries everything, and writes one file to send back."""
