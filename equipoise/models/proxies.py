"""Checks before a session that the proxies which the environment names are of a supported kind."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from equipoise.core.errors import UserError, printable
from equipoise.core.settings import Settings

_SUPPORTED, _SOCKS = ("http", "https"), ("socks5://", "socks5h://")


def refuse_proxies(settings: Settings) -> None:
    """Raise UserError if a call to an endpoint would need a proxy that is not an HTTP proxy.

    A proxy that no call needs is refused, too, as the HTTP client reads all of them, unless it is a SOCKS
    proxy.
    """
    proxies = getproxies()
    if proxies.get("no") == "*":
        return
    endpoints = (settings.subject_endpoint, settings.evaluator_endpoint)
    needed = {_proxy_kind(endpoint.base_url, proxies) for endpoint in endpoints}
    for kind in ("http", "https", "all"):
        value = proxies.get(kind, "")
        proxy = value if "://" in value else f"http://{value}"
        if value and not _is_supported(proxy) and (kind in needed or not proxy.startswith(_SOCKS)):
            raise UserError(
                f"{kind.upper()}_PROXY: {_safe_text(proxy)} is not the URL of an HTTP proxy, and no other is "
                "supported; unset it, or name the endpoint's host in NO_PROXY"
            )


def _proxy_kind(url: str, proxies: Mapping[str, str]) -> str:
    """The kind of proxy for a URL: `http`, `https` or `all`, as in the variable's name; "" for none."""
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc):
        return ""
    return parts.scheme if proxies.get(parts.scheme) else "all"


def _is_supported(proxy: str) -> bool:
    try:
        parts = urlsplit(proxy)
        return parts.scheme in _SUPPORTED and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _safe_text(proxy: str) -> str:
    """The URL of a proxy for an error message, but not if it may contain a password."""
    return "the value" if "@" in proxy else repr(printable(proxy)[:100])
