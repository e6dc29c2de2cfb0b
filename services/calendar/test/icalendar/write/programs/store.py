"""Stores calendar objects on a CalDAV server, as a calendar program does with an invitation, lets the server expand them, and
reads them back.

    store.py URL     with caldav and icalendar; standard input as of read.py. Prints what is wrong.
"""

import json
import re
import sys
from datetime import datetime, timezone

import caldav
import icalendar

FROM = datetime(2026, 1, 1, tzinfo=timezone.utc)
TO = datetime(2030, 1, 1, tzinfo=timezone.utc)


def seconds(value):
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
    return int(value.timestamp())


def events(text):
    """The events of an object, each in the one form in which icalendar writes it."""
    return sorted(event.to_ical() for event in icalendar.Calendar.from_ical(text).walk("VEVENT"))


def main(url):
    with caldav.DAVClient(url=url, username="ann", password="ann") as client:
        principal = client.principal()
        for number, line in enumerate(sys.stdin):
            vector = json.loads(line)
            if not vector["dates"]:
                continue
            calendar = principal.make_calendar(name=f"calendar {number}", cal_id=f"calendar-{number}")
            # What is stored has no method (RFC 4791 4.1).
            text = re.sub(r"^METHOD:.*\r\n", "", vector["calendar"], flags=re.MULTILINE)
            stored = calendar.add_event(text, increase_seqno=False)
            if events(calendar.event_by_url(stored.url).data) != events(vector["calendar"]):
                print(f"{vector['name']}: given back otherwise")
            found = []
            for stored in calendar.search(start=FROM, end=TO, event=True, server_expand=True, expand=False):
                for event in stored.icalendar_instance.walk("VEVENT"):
                    found.append((seconds(event["DTSTART"].dt), seconds(event["DTEND"].dt)))
            expected = [tuple(one) for one in vector["dates"]]
            if sorted(found) != expected:
                extra, missing = sorted(set(found) - set(expected)), sorted(set(expected) - set(found))
                iso = [[f"{datetime.fromtimestamp(a, timezone.utc):%Y-%m-%dT%H:%M}+{b - a}" for a, b in spans[:3]] for spans in (extra, missing)]
                print(f"{vector['name']}: {len(extra)} more {iso[0]}, {len(missing)} missing {iso[1]}, {len(found)} of {len(expected)}")


main(sys.argv[1])
