"""Answers the newest invitation to an event in the schedule inbox of a CalDAV server, as a calendar program does.

    answer.py URL UID accept|decline|tentatively_accept    with caldav. Prints when the event starts.
"""

import sys

import caldav


def main(url, uid, answer):
    with caldav.DAVClient(url=url) as client:
        invitations = list(client.principal().schedule_inbox().get_items())
        for invitation in invitations:
            invitation.load()
        about = [one for one in invitations if one.icalendar_component["UID"] == uid]
        newest = max(about, key=lambda one: one.icalendar_component["SEQUENCE"])
        print(newest.icalendar_component["DTSTART"].dt.isoformat())
        getattr(newest, f"{answer}_invite")()


main(*sys.argv[1:])
