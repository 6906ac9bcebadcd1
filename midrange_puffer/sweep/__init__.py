"""`puffer sweep midrange`: better hyperparameters and rewards, found by trials.

A sweep (`command`) is a folder of trials (`record`). A method suggests the settings of the next
trial from those that are over (`search`, over the ranges of `space`); each trial is a training in a
process of its own (`trial`), whose policy meets a fixed panel (`panel`) now and then, and which
ends early where that gives no hope (`readings`). The `runner` gives trials to `workers`, here
(`process`) or on a Ray cluster (`ray_worker`, and `ray_host` on its nodes). `progress` shows how it
goes; `report` writes what was found: a `page` of tables and of figures, of the scores (`figures`)
and of the parameters' `effects` on them (by `statistics`).
"""
