"""What the pages of the workbench share: the fields of an address, figures that change, and how to repeat them.

A page is a value that is made from fields and printed by a template; its JSON is the same value. Knows nothing of HTTP.
"""
