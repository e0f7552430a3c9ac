"""Settings for all tests: property tests give the same examples in every run, and have no deadline.

`HYPOTHESIS_PROFILE=explore` looks at new examples instead.
"""

import os

from hypothesis import settings

settings.register_profile("repeat", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
