"""The workbench: pages of the reports in a browser, from one process on this machine. It carries, and computes nothing.

Values come from the library and their pages from `report`. What is here knows HTTP, and nothing of measures:

settings     what one workbench is given           serving      sockets, signals, the browser
app          all parts put together                connections  clients that are slow, half-open or too many
safety       who may ask, and what                 errors       what goes wrong, as an answer in words
data_folder  files, and no way out of the folder   worker       heavy work in processes that can be stopped
assets       scripts and style sheets              pages        the routes
"""
