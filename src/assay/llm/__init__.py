"""Ask language models: any OpenAI-compatible server, or a GGUF file on this machine. Independent of what is asked.

service  the settings: which model, how to ask it, caps      client   one answer for one prompt: kept, capped, retried
server   one HTTP request                                    local    a server of our own for a GGUF file
answers  questions, answers, and the answers on disk         engine   the process in which it runs
budget   caps on requests, tokens and money                  prompts  prompt files, and texts that cannot break them
"""
