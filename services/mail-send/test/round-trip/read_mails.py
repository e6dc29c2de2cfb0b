"""Reads mails with Python's parser: base64 of one mail a line on stdin, what it says as JSON on stdout."""

import base64
import json
import sys
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.utils import getaddresses


def addresses(raw, name):
    # The parser of policy.default leaves the blank between two encoded words of a name (RFC 2047 6.2) up to Python 3.12.
    fields = message_from_bytes(raw, policy=policy.compat32).get_all(name, [])
    # It also ends a quoted name at a CR, so lines are unfolded first.
    unfolded = [field.replace("\r\n", "") for field in fields]
    return [[str(make_header(decode_header(shown))), address] for shown, address in getaddresses(unfolded)]


def body(mail, kind):
    part = mail.get_body(preferencelist=(kind,))
    return None if part is None else part.get_content()


def attachment(part):
    return {
        "filename": part.get_filename(),
        "content": base64.b64encode(part.get_payload(decode=True) or b"").decode(),
    }


def facts(raw):
    mail = message_from_bytes(raw, policy=policy.default)
    return {
        "subject": mail["subject"],
        "from": addresses(raw, "from"),
        "to": addresses(raw, "to"),
        "note": mail["x-note"],
        "text": body(mail, "plain"),
        "html": body(mail, "html"),
        "attachments": [attachment(part) for part in mail.iter_attachments()],
    }


for line in sys.stdin:
    print(json.dumps(facts(base64.b64decode(line))))
