"""Attacks on the package: damaged files, odd calls, and kills at the worst moments.

    make hostile                                     twenty minutes of all of it
    make hostile ARGS="--minutes 2 --seed 7 files"   of one kind, and from another seed on
    make hostile ARGS="--again files:model:1234"     one case again, as a finding names it

Every case is made from its kind and a seed alone, and is tried in a process of its own with little
memory and time. A forbidden result is a finding: it is printed, counted, and kept in
build/hostile/findings with all that is needed to look into it. The exit status is then 1.

Twenty minutes are some seven rounds on two cores. One minute is enough for the first kinds alone;
the summary names those that were not reached.

    files.py    reads damaged files, of the kinds in formats.py, as samples.py makes them; damage.py
                damages any file, archives.py files with checksums
    places.py   puts pipes, devices, links and endless files in the place of a file
    calls.py    makes odd calls to the objects in callees.py, with the arguments in odd.py and the
                snapshots in forged.py
    kills.py    kills commands, as victim.py runs them, and looks at what they leave
    parent.py   runs cases in processes of their own, child.py; limits.py bounds their memory
    outcome.py  has the result of a case; report.py counts and prints
"""
