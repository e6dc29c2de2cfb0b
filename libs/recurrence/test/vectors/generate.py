"""Writes agreed.txt: random rules of which two programs that no one here wrote, dateutil and libical, say the same.

    apt install python3-dateutil python3-gi gir1.2-ical-3.0
    /usr/bin/python3 generate.py 5000 > agreed.txt

A line is `rule|start|dates|digest`: how many of the first 60 dates lie within twelve years of the start, and the start of
the SHA-256 of these dates, joined by commas. Rules on which the two differ are left out; what RFC 5545 says of those is in
rulings.test.ts. Each rule runs in a process of its own, because both programs look for the next date of some rules for ever.
"""

import hashlib
import json
import os
import random
import signal
import sys
from datetime import datetime, timedelta

import gi
from dateutil.rrule import rrulestr

gi.require_version("ICalGLib", "3.0")
from gi.repository import ICalGLib  # noqa: E402

DATES = 60
YEARS = 12
SECONDS = 2
FREQUENCIES = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"]
WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
choose = random.Random(20261126)


def numbers(least, most, length, signed=False):
    chosen = set()
    for _ in range(choose.randint(1, length)):
        value = choose.randint(least, most)
        chosen.add(-value if signed and choose.random() < 0.3 else value)
    return ",".join(map(str, sorted(chosen)))


def weekdays(with_positions):
    words = []
    for weekday in choose.sample(WEEKDAYS, choose.randint(1, 4)):
        position = choose.choice(["1", "2", "3", "4", "5", "-1", "-2"]) if with_positions else ""
        words.append(position + weekday)
    return ",".join(words)


def rule():
    frequency = choose.choices(FREQUENCIES, [6, 6, 5, 5, 1, 1])[0]
    parts = [f"FREQ={frequency}"]

    def maybe(chance, name, value):
        if choose.random() < chance:
            parts.append(f"{name}={value()}")
            return True
        return False

    maybe(0.5, "INTERVAL", lambda: choose.choice([2, 3, 4, 5, 7, 10, 13]))
    maybe(0.3, "WKST", lambda: choose.choice(WEEKDAYS))
    maybe(0.35, "BYMONTH", lambda: numbers(1, 12, 4))
    weeks = frequency == "YEARLY" and maybe(0.25, "BYWEEKNO", lambda: numbers(1, 53, 3, True))
    if frequency in ("YEARLY", "HOURLY", "MINUTELY"):
        maybe(0.2, "BYYEARDAY", lambda: numbers(1, 366, 4, True))
    if frequency != "WEEKLY":
        maybe(0.35, "BYMONTHDAY", lambda: numbers(1, 31, 4, True))
    positions = frequency in ("MONTHLY", "YEARLY") and not weeks and choose.random() < 0.5
    maybe(0.5, "BYDAY", lambda: weekdays(positions))
    maybe(0.25, "BYHOUR", lambda: numbers(0, 23, 3))
    maybe(0.2, "BYMINUTE", lambda: numbers(0, 59, 3))
    if any(part.startswith("BY") for part in parts):
        maybe(0.25, "BYSETPOS", lambda: numbers(1, 5, 2, True))
    return ";".join(parts)


def by_dateutil(text, start, end):
    dates = []
    for date in rrulestr(text, dtstart=start):
        if date > end or len(dates) == DATES:
            break
        dates.append(date.isoformat())
    return dates


def by_libical(text, start, end):
    recurrence = ICalGLib.Recurrence.new_from_string(text)
    iterator = ICalGLib.RecurIterator.new(recurrence, ICalGLib.Time.new_from_string(start.strftime("%Y%m%dT%H%M%S")))
    dates = []
    time = iterator.next()
    while not time.is_null_time() and len(dates) < DATES:
        date = datetime.strptime(time.as_ical_string(), "%Y%m%dT%H%M%S")
        if date > end:
            break
        dates.append(date.isoformat())
        time = iterator.next()
    return dates


def apart(expand, *given):
    """The result in a process of its own; None when it fails or takes too long."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        try:
            os.write(writer, json.dumps(expand(*given)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return json.loads(data) if data else None


def main(count):
    for _ in range(count):
        text = rule()
        days = timedelta(days=choose.randint(0, 900), hours=choose.randint(0, 23), minutes=choose.choice([0, 15, 30, 45]))
        start = datetime(2024, 1, 1) + days
        end = start + timedelta(days=365 * YEARS)
        dates = apart(by_dateutil, text, start, end)
        if dates is None or dates != apart(by_libical, text, start, end):
            continue
        digest = hashlib.sha256(",".join(dates).encode()).hexdigest()[:16]
        print(f"{text}|{start.isoformat()}|{len(dates)}|{digest}")


main(int(sys.argv[1]))
