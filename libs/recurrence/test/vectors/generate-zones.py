"""Writes zones.txt: random rules in zones, of which two programs that no one here wrote say the same instants.

    apt install python3-dateutil python3-gi gir1.2-ical-3.0 tzdata
    /usr/bin/python3 generate-zones.py agreed.txt 2400 > zones.txt

A line is `rule|zone|start|dates|digest`: how many of the first 60 dates lie within ten years of the start, and the start of the
SHA-256 of their instants, in seconds, joined by commas. The rules are those of agreed.txt, at times of day at which clocks are
changed. The one program is dateutil with the zoneinfo of Python; the other is libical with its own reading of the same data.
libical takes the later of two instants that show one time in some zones, and skipped times in another way: such rules are left
out, and zone.test.ts says what calendars demand.
"""

import hashlib
import random
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import gi
from dateutil.rrule import rrulestr

gi.require_version("ICalGLib", "3.0")
from gi.repository import ICalGLib  # noqa: E402

sys.argv, given = ["generate.py", "0"], sys.argv
from generate import apart  # noqa: E402

DATES = 60
YEARS = 10
ZONES = """Europe/Berlin Europe/London Europe/Dublin America/New_York America/Los_Angeles America/Sao_Paulo America/St_Johns
America/Havana America/Santiago Australia/Lord_Howe Australia/Sydney Africa/Cairo Africa/Johannesburg Asia/Kolkata Asia/Tokyo
Asia/Jerusalem Asia/Beirut Asia/Kathmandu Pacific/Apia Pacific/Chatham Pacific/Auckland UTC""".split()
TIMES = [(0, 0), (0, 30), (1, 0), (1, 30), (2, 0), (2, 15), (2, 30), (3, 0), (9, 0), (23, 45)]
choose = random.Random(20261127)


def by_dateutil(text, start, end, zone):
    instants = []
    for date in rrulestr(text, dtstart=start):
        if date > end or len(instants) == DATES:
            break
        instants.append(int(date.replace(tzinfo=ZoneInfo(zone)).timestamp()))
    return instants


def by_libical(text, start, end, zone):
    recurrence = ICalGLib.Recurrence.new_from_string(text)
    iterator = ICalGLib.RecurIterator.new(recurrence, ICalGLib.Time.new_from_string(start.strftime("%Y%m%dT%H%M%S")))
    own = ICalGLib.Timezone.get_builtin_timezone(zone)
    instants = []
    time = iterator.next()
    while not time.is_null_time() and len(instants) < DATES:
        if datetime.strptime(time.as_ical_string(), "%Y%m%dT%H%M%S") > end:
            break
        instants.append(time.as_timet_with_zone(own))
        time = iterator.next()
    return instants


def main(path, count):
    rules = [line.split("|")[0] for line in open(path)]
    choose.shuffle(rules)
    made = 0
    for rule in rules * 2:
        zone = choose.choice(ZONES)
        hours, minutes = choose.choice(TIMES)
        start = datetime(2024, 1, 1) + timedelta(days=choose.randint(0, 600), hours=hours, minutes=minutes)
        end = start + timedelta(days=365 * YEARS)
        instants = apart(by_dateutil, rule, start, end, zone)
        if not instants or instants != apart(by_libical, rule, start, end, zone):
            continue
        digest = hashlib.sha256(",".join(map(str, instants)).encode()).hexdigest()[:16]
        print(f"{rule}|{zone}|{start.isoformat()}|{len(instants)}|{digest}")
        made += 1
        if made == count:
            break


main(given[1], int(given[2]))
