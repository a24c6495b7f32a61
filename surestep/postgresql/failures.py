"""What a failure of PostgreSQL proves. Unlisted at COMMIT is ambiguous (R5).

    when           failure                                           class
    connecting     any                                               NotSent
    before COMMIT  our table is missing, or not granted to us        NotSent, with the remedy
    before COMMIT  the server may answer otherwise later (AGAIN),
                   the connection was lost, no time is left, the
                   attempt is stopped                                Refused, may be tried again
    before COMMIT  any other error                                   Refused
    COMMIT         ERROR, but for the classes in UNSURE              Refused, again if in AGAIN
    COMMIT         FATAL, a lost connection, a stop, anything else   Ambiguous

Before COMMIT has left, the server can only roll back. An ERROR in answer to COMMIT is the server's
word that it did. FATAL and PANIC may strike after the commit record was written.
"""

from typing import Final

import psycopg

from surestep.errors import Ambiguous, Definite, NotSent, Refused, SurestepError

# Classes and single codes of PostgreSQL's Appendix A.
AGAIN: Final = (
    "08",  # connection exception
    "25006",  # read-only transaction: a standby, or a primary just before a switch-over
    "25P03",  # idle-in-transaction timeout
    "25P04",  # transaction timeout
    "40",  # serialisation failure, deadlock
    "53",  # out of memory, disk, connections
    "55",  # lock not available, object in use
    "57",  # cancelled by a timeout or an operator, shutting down
    "58",  # system error
)
UNSURE: Final = ("08", "40003", "57P", "58", "XX")

_NO_TABLE: Final = ("42P01", "3F000")
_NOT_GRANTED: Final = "42501"


def in_words(error: psycopg.Error) -> str:
    """The condition and the constraint, never the text: it may quote rows."""
    if error.sqlstate is None:
        return f"PostgreSQL's connection was lost or misused ({type(error).__name__})"
    constraint = error.diag.constraint_name
    where = f", constraint {constraint}" if constraint else ""
    return f"PostgreSQL answered {error.sqlstate} ({type(error).__name__}{where})"


def before_commit(error: psycopg.Error) -> Definite:
    """Nothing was committed, and nothing will be."""
    state = error.sqlstate
    again = isinstance(error, psycopg.OperationalError) if state is None else _is(state, AGAIN)
    return Refused(f"{in_words(error)} and rolled back", again=again)


def at_our_table(error: psycopg.Error, table: str) -> Definite:
    """The same, for a statement of ours: what is missing is not the action's fault."""
    if error.sqlstate in _NO_TABLE:
        return NotSent(f"there is no table {table}: run `python -m surestep.postgresql migrate`")
    if error.sqlstate == _NOT_GRANTED:
        return NotSent(f"not permitted: GRANT SELECT, INSERT, UPDATE ON {table} to the worker")
    return before_commit(error)


def at_commit(error: psycopg.Error) -> SurestepError:
    """COMMIT was sent, and this came back."""
    state = error.sqlstate
    if state and error.diag.severity_nonlocalized == "ERROR" and not _is(state, UNSURE):
        return before_commit(error)
    return Ambiguous(f"COMMIT was sent, and {in_words(error)}")


def _is(state: str, listed: tuple[str, ...]) -> bool:
    return state.startswith(listed)
