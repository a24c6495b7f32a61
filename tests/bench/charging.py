"""The call that every row makes: one POST to a service of the world, by one function."""

from datetime import timedelta

from pydantic import BaseModel

from surestep.http import exchange


class Charge(BaseModel):
    order: str
    cents: int


async def charged(url: str, key: str, charge: Charge, *, fault: str | None = None) -> str:
    """The id of the effect. `fault` is what the world shall make of this request."""
    answer = await exchange(
        "POST",
        f"{url}/effects",
        key=key,
        json=charge.model_dump(mode="json"),
        headers={"World-Fault": fault} if fault else None,
        within=timedelta(seconds=25),
    )
    effect: str = answer.json()["id"]
    return effect


async def found(url: str, key: str) -> list[str]:
    """The ids of the effects that the service shows under the key."""
    answer = await exchange("GET", f"{url}/effects", params={"key": key})
    return [one["id"] for one in answer.json()["effects"]]
