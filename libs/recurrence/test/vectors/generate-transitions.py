"""Writes transitions.txt: when clocks were changed from 1980 to 2025, as the compiled time zone data of the system says.

    apt install tzdata
    /usr/bin/python3 generate-transitions.py Europe/Berlin ... > transitions.txt

A line is `zone|transitions|digest`: how many there are, and the start of the SHA-256 of them as `at:before:after`, in seconds,
joined by blanks.
"""

import hashlib
import struct
import sys

FIRST, LAST = 315532800, 1767225600
ROOT = "/usr/share/zoneinfo/"


def sizes(data, at):
    utc, std, leaps, times, types, letters = struct.unpack(">6l", data[at + 20 : at + 44])
    return times, types, letters + leaps, utc + std


def transitions(zone):
    data = open(ROOT + zone, "rb").read()
    times, types, letters, rest = sizes(data, 0)
    # After the block of 32-bit times is one of 64-bit times (RFC 8536). No zone has leap seconds.
    at = 44 + times * 5 + types * 6 + letters + rest
    times, types, *_ = sizes(data, at)
    at += 44
    instants = struct.unpack(f">{times}q", data[at : at + 8 * times])
    kinds = data[at + 8 * times : at + 9 * times]
    offsets = [struct.unpack(">lbB", data[at + 9 * times + 6 * n :][:6])[0] for n in range(types)]
    before = offsets[0]
    for instant, kind in zip(instants, kinds):
        after = offsets[kind]
        if after != before and FIRST < instant < LAST:
            yield f"{instant}:{before}:{after}"
        before = after


for name in sys.argv[1:]:
    found = list(transitions(name))
    print(f"{name}|{len(found)}|{hashlib.sha256(' '.join(found).encode()).hexdigest()[:16]}")
