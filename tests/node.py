"""Node for tests: a script's result for a value, both as JSON."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from wgslgen.paths import templates_dir

RUNTIME = templates_dir() / "web" / "runtime"


def node(script: str, given: Any) -> Any:
    """Return `result` of a module's `script`, which has the runtime, `given`, and `attempt` for what may throw."""
    head = (
        f'import * as runtime from "{RUNTIME.as_uri()}/index.js";\n'
        'import { readFileSync } from "node:fs";\n'
        'const given = JSON.parse(readFileSync(0, "utf8"));\n'
        "const attempt = (work) => { try { return work(); } catch (error) { return { refused: error.message }; } };\n"
        "const hex = (buffer) => buffer && Buffer.from(buffer).toString('hex');\n"
    )
    tail = "\nprocess.stdout.write(JSON.stringify(result));\n"
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", head + script + tail],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
