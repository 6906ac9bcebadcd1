"""Attacks on the package: damaged files, odd calls, and kills at the worst moments.

    make hostile                                     twenty minutes of all of it
    make hostile ARGS="--minutes 2 --seed 7 files"   of one kind, and from another seed on
    make hostile ARGS="--again files:model:1234"     one case again, as a finding names it

Every case is made from its kind and a seed alone, and is tried in a process of its own with little
memory and time. What must not happen is a finding: it is printed, counted, and kept in
build/hostile/findings with all that is needed to look into it. The exit status is then 1.

Nothing of the package knows of this folder, and nothing in it reaches beyond the package's own
functions and commands, as a user has them.
"""
