"""Who was told, and who was not. Pure; it is recorded."""

from surestep.value import Value


class Missed(Value):
    """A target that could not be told, by its name, which holds no credentials, and why."""

    target: str
    why: str


class Told(Value):
    """The answer of `notify`; empty where nobody is configured."""

    told: tuple[str, ...] = ()
    missed: tuple[Missed, ...] = ()

    @property
    def words(self) -> str:
        """`told mailto:june@example.com; not told https://hooks.example.com (…)`."""
        if not self.told and not self.missed:
            return "nobody is configured to be told: SURESTEP_NOTIFY is not set"
        parts = [f"told {', '.join(self.told)}"] if self.told else []
        parts += [f"not told {one.target}: {one.why}" for one in self.missed]
        return "; ".join(parts)
