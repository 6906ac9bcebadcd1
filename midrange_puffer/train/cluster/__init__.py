"""Training on a Ray cluster: collectors anywhere in it gather experience, one learner trains."""
