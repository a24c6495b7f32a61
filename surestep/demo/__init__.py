"""The demo: scripted failures against an embedded server, judged by a ledger (`make demo`)."""


def main(*, keep: bool, as_json: bool) -> int:
    """Play the demo and return its exit code: 0 only if every row of the final table is right.

    keep     leave worker, service and Web UI up until Ctrl-C; the folder stays even after that
    as_json  print only two lines for machines, table and totals; what people watch is on stderr

    The last line on stdout is the totals as one JSON object. With `keep` it comes before the wait.
    """
    from surestep.demo.programme import run

    return run(keep=keep, as_json=as_json)
