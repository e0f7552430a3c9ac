"""Forms that servers ask a person to fill in: from a schema to fields, from what was typed to values.

Pure functions for every host, with a screen or without. Not here: drawing (tui), sending (mcp).
"""

from hel_tui.forms.schema import MAX_FIELDS as MAX_FIELDS
from hel_tui.forms.schema import fields_from_schema as fields_from_schema
from hel_tui.forms.values import Content as Content
from hel_tui.forms.values import Problem as Problem
from hel_tui.forms.values import Typed as Typed
from hel_tui.forms.values import check_form as check_form
from hel_tui.forms.values import read_field as read_field
from hel_tui.forms.values import start as start
