"""The rules of a release: a module for each thing a rule may be about, and the verdict on all of them."""
