"""Instants, days, lengths and versions, as the policy file and the case file write them.

An instant is a whole number of milliseconds since 1970 in UTC.
"""
import calendar
import re
from datetime import datetime, timedelta, timezone

SECOND = 1000
HOUR = 3600 * SECOND
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_INSTANT = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?Z")


def is_day(text):
    return _DAY.fullmatch(text) is not None


def instant(text):
    """The instant that a text names; of a day, its midnight in UTC. Nothing stays nothing."""
    if text is None:
        return None
    if is_day(text):
        text += "T00:00:00Z"
    parts = _INSTANT.fullmatch(text)
    if parts is None:
        raise ValueError(f"not a date: {text}")
    year, month, day, hour, minute, second = (int(part or 0) for part in parts.groups()[:6])
    milliseconds = int((parts[7] or "0").ljust(3, "0"))
    date = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    return (date - _EPOCH) // timedelta(milliseconds=1) + milliseconds


def text(date):
    """An instant as RFC 3339."""
    if date is None:
        return None
    whole = (_EPOCH + timedelta(seconds=date // SECOND)).strftime("%Y-%m-%dT%H:%M:%S")
    return whole + (f".{date % SECOND:03}Z" if date % SECOND else "Z")


def day_text(date):
    return text(date)[:10]


_UNITS = {"w": 7 * DAY, "d": DAY, "h": HOUR, "m": 60 * SECOND, "s": SECOND}


def duration(text):
    """A length of exact time, such as `-24h`."""
    sign = -1 if text.startswith("-") else 1
    return sign * sum(int(count) * _UNITS[unit] for count, unit in re.findall(r"(\d+)([wdhms])", text))


def after_period(date, period):
    """The instant a calendar length later (UTC, Gregorian). A day that a month doesn't have becomes its last."""
    parts = re.fullmatch(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?", period)
    years, months, weeks, days = (int(part or 0) for part in parts.groups())
    start = _EPOCH + timedelta(milliseconds=date)
    month = start.year * 12 + start.month - 1 + years * 12 + months
    year, month = month // 12, month % 12 + 1
    last = calendar.monthrange(year, month)[1]
    moved = start.replace(year=year, month=month, day=min(start.day, last)) + timedelta(days=7 * weeks + days)
    return (moved - _EPOCH) // timedelta(milliseconds=1)


def version(text):
    """Rule A4. The components of a version without trailing zeros; nothing where it is absent or malformed."""
    if text is None:
        return None
    trimmed = text.strip(" \t\n\r\v\f")
    if re.fullmatch(r"[0-9]+(\.[0-9]+)*", trimmed) is None:
        return None
    components = [int(component) for component in trimmed.split(".")]
    while components and components[-1] == 0:
        components.pop()
    return tuple(components)


def earliest(*dates):
    """The earliest of ends; nothing means that there is no end."""
    known = [date for date in dates if date is not None]
    return min(known) if known else None


def latest(*dates):
    """The latest of ends; nothing means that there is no end."""
    return None if any(date is None for date in dates) else max(dates)
