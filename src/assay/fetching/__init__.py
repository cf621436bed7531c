"""Runs from systems that are in use: ask each query once, keep every answer, and never take a failure for an answer.

fetching  all queries of a run: at the same time, again after failures, resumed      http      a server, over HTTP
systems   what a system is, and a function of Python as one                          command   a program
apis      how servers are asked: one entry each, in apis/*.toml                      settings  the files that users write
templates requests with places for the query               paths   places in JSON
"""
