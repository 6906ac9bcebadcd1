"""`puffer sweep midrange`: better hyperparameters and rewards, found by trials.

A sweep is a folder of trials (`record`). A method suggests the settings of the next trial from
those that are over (`search`, over the ranges of `space`); each trial is a training in a process
of its own (`trial`, started by `runner`), whose policy fights a fixed panel (`panel`). `report`
shows what was found.
"""
