"""The one function that turns observations into a plan, or into a refusal with its reason.

Headings of the contract: "Reconciliation Semantics", "Comparison Semantics",
"Shared-Root Ownership". The two modes differ in what may stand in the way, so each
has a module of its own; what they share is in :mod:`distributor.core.plan`.
"""

from __future__ import annotations

from distributor.core.comparison import Outcome, compare
from distributor.core.observation import FoundState
from distributor.core.plan import Plan, PlanInput, Refusal, refuse
from distributor.core.policy import StateMode
from distributor.core.shared_root import plan_shared_root
from distributor.core.single_owner import plan_single_owner
from distributor.core.state.model import State


def plan_publication(given: PlanInput) -> Plan | Refusal:
    """Decide what one publication does to one destination.

    Pure and total: the same input gives the same plan, whose state, writes and
    deletions are complete before anything is touched. A refusal is a skip, a
    conflict, or a failure that the plan itself shows (D22, E5).
    """
    verdict = compare(given.manifest, given.seen, given.policy)
    if verdict.outcome is not Outcome.PROCEED:
        return refuse(verdict)
    decoded = given.seen.decoded if isinstance(given.seen, FoundState) else None
    state = decoded if isinstance(decoded, State) else None
    if given.policy.state_mode is StateMode.SINGLE_OWNER:
        return plan_single_owner(given, state, verdict.action, verdict.reason)
    return plan_shared_root(given, state, verdict.action, verdict.reason)
