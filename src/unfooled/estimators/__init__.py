"""Estimators: how many texts of a space keep their label, with an interval and its confidence."""
