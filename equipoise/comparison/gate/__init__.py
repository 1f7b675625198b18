"""The gate: a module for each kind of rule, and the verdict on all rules."""
