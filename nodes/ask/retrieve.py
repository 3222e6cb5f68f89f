"""Find passages in the index.

Reads: strategy.  Writes: warnings.
"""

from typing import Any

from qkva.contracts.state import AskState
from qkva.nodes.runtime import AskRuntime


async def retrieve(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """No source has an index, so there are no passages; the router never picks this way by itself."""
    return {"warnings": [f"No index is configured, so {state.strategy} finds no passages."]}
