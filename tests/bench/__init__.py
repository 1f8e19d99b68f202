"""``make bench``: what validation costs beside the neighbours, as ratios taken in one run."""
