"""The papers' experiments on our models, written from run folders into docs/results/."""
