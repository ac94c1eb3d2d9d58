"""Rule 8's side wagers: what each looks at, what it can win, and its pay tables as data.

A side wager is one data file (`files/`) and one small evaluator: a pure function from the cards that matter to the names
of what they win. Pay tables name what each award pays; so one evaluator serves every table of its game. The odds use them
today; the round does not offer side wagers yet.
"""
