"""Labs: the same task under different conditions, run many times, and what came of it, side by side.

A lab is a folder with a `lab.toml` (reading). Not here: the command line (cli.eval), the agent (api).
"""
