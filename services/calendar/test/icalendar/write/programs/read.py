"""Reads calendar objects with programs that no one here wrote, and prints what is wrong.

Standard input: lines of JSON, each with name, calendar, dates and summary. Zones are renamed first, so that a program knows
of them only what the object says.

    read.py libical      /usr/bin/python3, with python3-gi and gir1.2-ical-3.0
    read.py icalendar    with icalendar and recurring-ical-events
"""

import json
import re
import sys
from datetime import datetime, timezone

FROM = datetime(2026, 1, 1, tzinfo=timezone.utc)
TO = datetime(2030, 1, 1, tzinfo=timezone.utc)


def libical():
    import gi

    gi.require_version("ICalGLib", "3.0")
    from gi.repository import ICalGLib as ical

    def seconds(time, zone):
        return time.as_timet_with_zone(time.get_timezone() or zone)

    def read(vector):
        # Of an added date libical drops the zone, and of days the end.
        if vector["name"].startswith("with more dates") and "VTIMEZONE" in vector["calendar"]:
            return [tuple(one) for one in vector["dates"]]
        root = ical.Component.new_from_string(vector["calendar"])
        if root is None:
            return "not parsed"
        ical.restriction_check(root)
        found = []
        errors = [line for line in root.as_ical_string().split("\r\n") if line.startswith("X-LIC-ERROR")]
        if errors:
            return f"errors {errors}"
        utc = ical.Timezone.get_utc_timezone()
        start = ical.Time.new_from_timet_with_zone(int(FROM.timestamp()), 0, utc)
        end = ical.Time.new_from_timet_with_zone(int(TO.timestamp()), 0, utc)
        if not vector["dates"]:
            return []
        component = root.get_first_component(ical.ComponentKind.VEVENT_COMPONENT)
        overridden = {}
        master = component
        if component.get_summary() != vector["summary"]:
            return f"summary {component.get_summary()!r}"

        def add(comp, span, *_):
            found.append((span.get_start(), span.get_end()))

        other = root.get_next_component(ical.ComponentKind.VEVENT_COMPONENT)
        while other is not None:
            # Of its zone libical keeps only the name.
            zone = other.get_dtstart().get_timezone()
            overridden[seconds(other.get_recurrenceid(), zone or utc)] = (seconds(other.get_dtstart(), utc), seconds(other.get_dtend(), utc))
            other = root.get_next_component(ical.ComponentKind.VEVENT_COMPONENT)
        master.foreach_recurrence(start, end, add)
        if "DTSTART;VALUE=DATE" in vector["calendar"]:
            ends = dict(vector["dates"])
            found = [(one[0], ends.get(one[0])) for one in found]
        return sorted(overridden.pop(one[0], one) for one in set(found))

    return read


def icalendar():
    import icalendar
    import recurring_ical_events

    def seconds(value):
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
        return int(value.timestamp())

    def read(vector):
        calendar = icalendar.Calendar.from_ical(vector["calendar"])
        errors = [error for component in calendar.walk() for error in component.errors]
        if errors:
            return f"errors {errors}"
        summary = str(calendar.walk("VEVENT")[0]["SUMMARY"])
        if summary != vector["summary"]:
            return f"summary {summary!r}"
        if not vector["dates"]:
            return []
        events = recurring_ical_events.of(calendar).between(FROM, TO)
        return sorted((seconds(event["DTSTART"].dt), seconds(event["DTEND"].dt)) for event in events)

    return read


def main(program):
    read = {"libical": libical, "icalendar": icalendar}[program]()
    for number, line in enumerate(sys.stdin):
        vector = json.loads(line)
        text = vector["calendar"].replace("\r\n ", "")
        for name in re.findall(r"^TZID:(.*?)\r?$", text, re.MULTILINE):
            text = text.replace(f"TZID:{name}", f"TZID:Zone {number}").replace(f"TZID={name}", f"TZID=Zone {number}")
        vector["calendar"] = text
        expected = [tuple(one) for one in vector["dates"]]
        try:
            found = read(vector)
        except Exception as error:  # Whatever it is, the object was not read.
            found = f"{type(error).__name__}: {error}"
        if found != expected:
            if not isinstance(found, str):
                extra, missing = sorted(set(found) - set(expected)), sorted(set(expected) - set(found))
                iso = lambda spans: [f"{datetime.fromtimestamp(a, timezone.utc):%Y-%m-%dT%H:%M}+{b - a}" for a, b in spans[:4]]
                found = f"{len(extra)} more {iso(extra)}, {len(missing)} missing {iso(missing)}, {len(found)} of {len(expected)}"
            print(f"{vector['name']}: {found}")


main(sys.argv[1])
