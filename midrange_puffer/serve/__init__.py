"""Seats over HTTP: people and programs elsewhere on the machine fly fighters."""
