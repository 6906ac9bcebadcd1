"""Plots, the viewer, the page of a replay, and flying by hand."""
