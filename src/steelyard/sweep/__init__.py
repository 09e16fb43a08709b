"""Many settings in one pass: models abreast (`fleet`), grids of settings, their results."""
