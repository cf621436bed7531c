"""Queries that count differently: weights, the weighted mean and how sure it is, and samples drawn by traffic.

weights     the weight of each query, and how it was sampled      estimating  the weighted mean and its interval
sampling    a sample of queries, drawn by traffic

Reads no files and knows no measure. The formulas and their papers are in docs/traffic.md.
"""
