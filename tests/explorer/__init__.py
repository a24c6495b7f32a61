"""The explorer: a small model of the environment, run exhaustively against the real policy.

clock      virtual time
service    what a service promises, and what is true of it
world      what exists at the service: requests under way, effects, jobs, keys remembered, fences
fates      everything that can become of one attempt
lookups    everything that a lookup can honestly show
people     humans, operators and webhooks, who act at any time
run        the executor: asks `next_move`, does it, adds the evidence
laws       the sentences that must hold
search     visits every state up to a depth
scenes     the services and crews that are explored
planted    hypotheses dropped on purpose, and wrong rules: each must be found

**Depth** is the number of times the environment departs from its kindest behaviour: a lost or
late message, a dead worker, a lookup that shows less than it could or fails, a human who speaks
unasked, a cancel, a reset, an outage. Everything that can be reached with at most that many
departures is visited, each story told to its end, however long it is. What follows after the
last departure is the *fair continuation* by which liveness is judged.
"""
