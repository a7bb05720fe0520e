"""The two dialects of a rendered text.

Browsers require `enable subgroups;`; naga 29 (naga-cli, wgpu-native, Firefox) rejects the line, while the
subgroup built-ins work there once the device has the feature. The web text is the one that ships; the
native text is the same with that line blanked, not removed, so that line numbers stay.
"""

from __future__ import annotations

SUBGROUPS_ENABLE = "enable subgroups;"


def to_native(text: str) -> str:
    """Return the text that naga accepts: `text` with the subgroup directive's line left empty."""
    return "\n".join("" if line.strip() == SUBGROUPS_ENABLE else line for line in text.split("\n"))
