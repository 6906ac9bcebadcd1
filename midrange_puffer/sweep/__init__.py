"""`puffer sweep midrange`: a search for better hyperparameters and rewards by trials.

A sweep is a folder of trials (`record`). A method suggests the settings of the next trial from the
results so far (`search`), within the ranges of `space`. Each trial is a training in its own process
(`trial`). While it trains, its policy is measured at intervals against fixed pilots, and a hopeless
trial is ended early (`readings`). The `runner` gives trials to `workers` on this machine or on a
Ray cluster (`ray_worker`). `progress` shows the state; `report` writes the results, with `figures`.
`library` is the search for Python programs that run the trials themselves.
"""
