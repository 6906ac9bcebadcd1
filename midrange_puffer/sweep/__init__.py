"""`puffer sweep midrange`: better hyperparameters and rewards, found by trials.

A sweep is a folder of trials (`record`). A method suggests the settings of the next trial from the
results so far (`search`, over the ranges of `space`). Each trial is a training in a process of its
own (`trial`), measured now and then against fixed pilots, and ended early if it is not worth going
on with (`readings`). The `runner` gives trials to `workers` on this machine or on a Ray cluster
(`ray_worker`). `progress` shows the state; `report` writes the results, with `figures`. `library`
is the search for Python programs that run the trials themselves.
"""
