"""`wattle advise`: names the lines of a program that cost more than they must, the change, and what it saves."""
