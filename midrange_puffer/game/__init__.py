"""The game: parameters, observations, actions, simulation, paths and missile envelopes."""
