"""Whether a call comes from this machine, and from a program or page that its owner uses."""

from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""A proxy sets one of these: then the caller is somebody else, whatever the address of the connection."""
STUDIO = "smith.langchain.com"


def is_local(scope: Scope) -> bool:
    """A direct connection over the loopback interface, to a loopback name, and from no strange web page.

    The last two keep out pages in the owner's own browser: one that calls this machine, and one whose own name was
    made to point to it.
    """
    client = scope.get("client")
    headers = Headers(scope=scope)
    return (
        client is not None
        and is_loopback(client[0])
        and not any(name in headers for name in FORWARDED)
        and is_loopback(urlsplit(f"//{headers.get('host', '')}").hostname or "")
        and is_known_page(headers.get("origin"))
    )


def is_loopback(host: str) -> bool:
    """Whether an address or a name can only be this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def is_known_page(origin: str | None) -> bool:
    """No page at all, a page of this machine, or LangGraph's Studio."""
    if origin is None:
        return True
    parts = urlsplit(origin)
    host = parts.hostname or ""
    return is_loopback(host) or (parts.scheme == "https" and (host == STUDIO or host.endswith("." + STUDIO)))
