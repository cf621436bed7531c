"""Ask servers over HTTP, carefully: with limits, without redirects, and with keys that appear nowhere else.

addresses   where a server is, without anything secret      keys      the key from the environment, and where it may go
connection  one request, and why it failed                  waiting   how long to wait before it is sent again
"""
