"""Runs functions of modules against both states of the contracts, where only that decides a verdict."""
