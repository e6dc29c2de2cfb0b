"""Calls every existing operation of the public client, with None for each omitted argument."""

from datetime import datetime, timezone
from uuid import UUID

from agentmail import SendAttachment, Subscribe
from agentmail.apps import ConnectAppBody
from agentmail.api_keys import CreateBearerApiKeyRequest
from agentmail.calendar import Attendee, RecurrenceInput
from agentmail.core import ApiError
from agentmail.errors import NotFoundError, ValidationError
from agentmail.inboxes import CreateInboxRequest
from websockets.exceptions import WebSocketException
from harness import ask, client, client_with, finish, offered, refused, requests, until, with_none


def identity():
    me = client.auth.me()
    assert me.scope_type == "organization" and me.organization_id == client.organizations.get().organization_id
    human = ask("human")["address"]
    signed_up = with_none(client_with("none").agent.sign_up, username=ask("name")["name"], human_email=human)
    agent = client_with(signed_up.api_key)
    agent.agent.attach_human(human_email=human)
    assert agent.agent.verify(otp_code=ask("code", human=human)["code"]).verified is True


def pods():
    pod = with_none(client.pods.create, name="Sales", client_id=ask("name")["name"])
    assert client.pods.get(pod.client_id).pod_id == pod.pod_id and pod.created_at.tzinfo is not None
    assert pod.pod_id in [each.pod_id for each in with_none(client.pods.list).pods]
    return pod.pod_id


def keys(resource, *scope):
    created = resource.create(*scope, request=CreateBearerApiKeyRequest(name="reader", permissions=None))
    assert created.api_key.startswith("am_") and created.name == "reader"
    narrowed = resource.create(*scope, request=CreateBearerApiKeyRequest(permissions={"inbox_read": True}))
    with_none(resource.update, *scope, narrowed.api_key_id, name="writer", permissions={"message_read": True})
    if hasattr(resource, "get"):
        assert resource.get(*scope, narrowed.api_key_id).name == "writer"
    known = {each.api_key_id: each for each in with_none(resource.list, *scope, limit=100).api_keys}
    assert known[narrowed.api_key_id].permissions.message_read is True
    for key in (created, narrowed):
        assert resource.delete(*scope, key.api_key_id) is None


def inboxes(resource, create, *scope):
    name = ask("name")["name"]
    inbox = create(username=name, display_name="Ada Desk", metadata={"team": "sales"})
    assert inbox.email == inbox.inbox_id and inbox.metadata == {"team": "sales"}
    assert resource.get(*scope, inbox.inbox_id).display_name == "Ada Desk"
    # None clears the metadata, and leaves everything else as it is.
    changed = with_none(resource.update, *scope, inbox.inbox_id, metadata=None)
    assert changed.display_name == "Ada Desk" and changed.metadata is None
    assert inbox.inbox_id in [each.inbox_id for each in with_none(resource.list, *scope, ascending=True).inboxes]
    until(lambda: with_none(resource.search, *scope, q=name).inboxes)
    return inbox.inbox_id


def mail(inbox_id):
    message_id = ask("mail", to=inbox_id, subject="Order 7", attachment="receipt")["message_id"]
    messages = client.inboxes.messages
    until(lambda: with_none(messages.list, inbox_id, labels=["unread"]).messages)
    message = messages.get(inbox_id, message_id)
    assert message.subject == "Order 7" and message.extracted_text == "How are you?" and message.from_
    assert messages.get_raw(inbox_id, message_id).download_url.startswith("http")
    (attachment,) = message.attachments
    assert messages.get_attachment(inbox_id, message_id, attachment.attachment_id).size == attachment.size
    updated = with_none(messages.update, inbox_id, message_id, add_labels=["seen"], remove_labels=["unread"])
    assert updated.labels == ["received", "seen"]
    assert messages.batch_get(inbox_id, message_ids=[message_id, "<none@x.test>"]).count == 1
    batch = with_none(messages.batch_update, inbox_id, message_ids=[message_id], add_labels=["batch"])
    assert batch.updates[0].labels == ["received", "seen", "batch"]
    assert with_none(client.inboxes.events.list, inbox_id, limit=1).events[0].label == "batch"
    (found,) = until(lambda: with_none(messages.search, inbox_id, q="ORDE order").messages)
    assert found.message_id == message_id and found.highlights.subject == ["**Order** 7"]
    receipt = SendAttachment(filename="r.txt", content="aGVsbG8=", content_type=None, url=None)
    to = ask("human")["address"]
    sent = with_none(messages.send, inbox_id, to=[to], subject="Hello", text="Hi", attachments=[receipt])
    with_none(messages.reply, inbox_id, message_id, text="Yes")
    with_none(messages.forward, inbox_id, message_id, to=[to], text="See below")
    with_none(messages.reply_all, inbox_id, message_id, text="All")
    assert messages.get(inbox_id, sent.message_id).labels[0] == "sent"
    return message


def texts(inbox_id):
    message_id = ask("mail", to=inbox_id, subject="Note", attachment="note")["message_id"]
    messages = client.inboxes.messages
    until(lambda: with_none(messages.search, inbox_id, q="approved").messages)
    (note,) = messages.get(inbox_id, message_id).attachments
    assert messages.get_attachment(inbox_id, message_id, note.attachment_id).text_url.startswith("http")


def threads(message):
    for resource, scope in (
        (client.threads, ()),
        (client.pods.threads, (message.pod_id,)),
        (client.inboxes.threads, (message.inbox_id,)),
    ):
        listed = with_none(resource.list, *scope, labels=["seen"]).threads
        assert [each.thread_id for each in listed] == [message.thread_id]
        assert until(lambda: with_none(resource.get, *scope, message.thread_id).message_count == 4)
        (found,) = with_none(resource.search, *scope, q="are you").threads
        assert found.thread_id == message.thread_id and "**are** **you**" in found.highlights.text[0]
        labelled = with_none(resource.update, *scope, message.thread_id, add_labels=["walked"])
        assert "walked" in labelled.labels
        attachment_id = message.attachments[0].attachment_id
        assert resource.get_attachment(*scope, message.thread_id, attachment_id).attachment_id == attachment_id
        message_id = ask("mail", to=message.inbox_id, subject="To be deleted")["message_id"]
        inbox = client.inboxes.messages
        (unwanted,) = until(lambda: [each for each in inbox.list(message.inbox_id).messages if each.message_id == message_id])
        assert resource.delete(*scope, unwanted.thread_id) is None
        refused(NotFoundError, resource.get, *scope, unwanted.thread_id)


def filters(message):
    """Every value of a list must match, in any case."""
    sender, receiver = message.from_.upper(), message.inbox_id.upper()
    shared = {"subject": ["ORDER", "7"], "labels": ["seen", "BATCH"]}
    of_message = {"from_": [sender, "@"], "to": [receiver, "@"], **shared}
    of_thread = {"senders": [sender, receiver], "recipients": [receiver, sender], **shared}
    for resource, scope, member, lists in (
        (client.inboxes.messages, (message.inbox_id,), "message", of_message),
        (client.threads, (), "thread", of_thread),
        (client.pods.threads, (message.pod_id,), "thread", of_thread),
        (client.inboxes.threads, (message.inbox_id,), "thread", of_thread),
    ):
        for name, values in lists.items():
            found = getattr(with_none(resource.list, *scope, **{name: values}), f"{member}s")
            assert getattr(message, f"{member}_id") in [getattr(each, f"{member}_id") for each in found], (name, found)
            for value in values:
                assert with_none(resource.list, *scope, **{name: [value, "nowhere"]}).count == 0, (name, value)


def slashed(inbox_id):
    """Issue trackers put slashes into their ids, which this client does not encode."""
    message_id = ask("mail", to=inbox_id, subject="Issue", slashed=True)["message_id"]
    assert "/" in message_id
    messages = client.inboxes.messages
    until(lambda: [each for each in messages.list(inbox_id).messages if each.message_id == message_id])
    assert messages.get(inbox_id, message_id).subject == "Issue"
    messages.reply(inbox_id, message_id, text="Fixed")
    assert messages.delete(inbox_id, message_id) is None
    refused(NotFoundError, messages.get, inbox_id, message_id)


def webhooks(resource, *scope):
    name = ask("name")["name"]
    url = "http://127.0.0.1:9/"
    webhook = with_none(resource.create, *scope, url=url, event_types=["message.sent"], client_id=name)
    assert webhook.secret.startswith("whsec_") and webhook.enabled is True
    assert resource.get(*scope, name).webhook_id == webhook.webhook_id
    assert webhook.webhook_id in [each.webhook_id for each in with_none(resource.list, *scope).webhooks]
    changed = with_none(resource.update, *scope, name, event_types=["message.received"], enabled=False)
    assert changed.event_types == ["message.received"] and changed.enabled is False
    assert resource.update_headers(*scope, name, headers={"X-Tenant": "one"}) is None
    assert resource.get_headers(*scope, name).header_names == ["X-Tenant"]
    assert resource.delete(*scope, webhook.webhook_id) is None


def domains(resource, *scope):
    name = f"{ask('name')['name']}.owned.test"
    domain = with_none(resource.create, *scope, domain=name)
    assert (domain.domain_id, domain.status, domain.feedback_enabled) == (name, "NOT_STARTED", True), domain
    found = resource.get(*scope, name)
    assert [each.name for each in found.records] == [each.name for each in domain.records]
    assert name in [each.domain_id for each in with_none(resource.list, *scope).domains]
    assert with_none(resource.update, *scope, name, subdomains_enabled=True).subdomains_enabled is True
    assert resource.verify(*scope, name) is None
    lines = b"".join(resource.get_zone_file(*scope, name)).decode().splitlines()
    assert len(lines) == len(domain.records) + 1 and all(" 300 IN " in line for line in lines), lines
    assert resource.delete(*scope, name) is None
    refused(NotFoundError, resource.get, *scope, name)


def setup_link():
    name = f"{ask('name')['name']}.owned.test"
    client.domains.create(domain=name)
    assert client.domains.get_setup_link(name).supported is False
    assert client.domains.delete(name) is None


def drafts(resource, inbox_id, *scope):
    to = ask("human")["address"]
    draft = with_none(client.inboxes.drafts.create, inbox_id, to=[to], subject="Later", text="Words", labels=["todo"],
                      attachments=[SendAttachment(filename="a.txt", content="QQ==")])
    assert (draft.labels, draft.preview) == (["draft", "todo"], "Words")
    assert draft.draft_id in [each.draft_id for each in with_none(resource.list, *scope, labels=["todo"]).drafts]
    assert resource.get(*scope, draft.draft_id).text == "Words"
    file = resource.get_attachment(*scope, draft.draft_id, draft.attachments[0].attachment_id)
    assert (file.filename, file.size) == ("a.txt", 1)
    changed = client.inboxes.drafts.update(inbox_id, draft.draft_id, subject="Sooner", add_labels=["now"])
    assert (changed.subject, changed.text, changed.labels) == ("Sooner", "Words", ["draft", "todo", "now"])
    sent = client.inboxes.drafts.send(inbox_id, draft.draft_id)
    assert client.inboxes.messages.get(inbox_id, sent.message_id).subject == "Sooner"
    refused(NotFoundError, resource.get, *scope, draft.draft_id)
    other = client.inboxes.drafts.create(inbox_id, client_id=f"draft-{sent.thread_id}")
    assert client.inboxes.drafts.delete(inbox_id, other.draft_id) is None


def lists(resource, *scope):
    address = f"{ask('name')['name']}@Listed.Example"
    entry = with_none(resource.create, *scope, "receive", "block", entry=address, reason="noisy")
    assert (entry.entry, entry.entry_type, entry.read_only) == (address.lower(), "email", False)
    assert resource.get(*scope, "receive", "block", address).reason == "noisy"
    assert entry.entry in [each.entry for each in with_none(resource.list, *scope, "receive", "block").entries]
    assert resource.delete(*scope, "receive", "block", address) is None
    refused(NotFoundError, resource.get, *scope, "receive", "block", address)


def apps(inbox_id):
    given = ask("app", inbox=inbox_id)
    app_id, slug, account_id = given["app_id"], given["slug"], UUID(given["account_id"])
    assert with_none(client.apps.list, limit=1).count == 1
    assert str(client.apps.get(slug.upper()).app_id) == app_id
    assert slug in [each.slug for each in with_none(client.apps.search, q=slug).apps]
    known = with_none(client.apps.list_accounts, slug)
    assert str(known.app.app_id) == app_id and [each.account_id for each in known.accounts] == [account_id]
    link = client.apps.connect(slug, request=ConnectAppBody(inbox_id=inbox_id))
    pending = client.api_keys.get(link.api_key_id)
    assert (pending.type, pending.status, pending.public_key) == ("public_key", "pending", None), pending
    waiting = with_none(client.inboxes.authorize, inbox_id, auth_token=given["auth_token"])
    assert waiting.instructions == "Authorization complete. Return to browser."
    assert client.accounts.get(account_id).app_name == slug
    assert client.accounts.update(account_id, status="disabled").status == "disabled"
    assert client.accounts.update(account_id, status="enabled").status is None


def accounts(resource, inbox_id, *scope):
    found = [each for each in with_none(resource.list, *scope).accounts if each.inbox_id == inbox_id]
    assert found[0].sign_in_count == 1 and found[0].last_signed_in_at.tzinfo is not None
    assert resource.get(*scope, found[0].account_id) == found[0]


def calendar(inbox_id):
    resource = client.inboxes.calendar
    assert with_none(resource.get, inbox_id).timezone == "UTC"
    changed = with_none(resource.update, inbox_id, timezone="Europe/Berlin")
    assert changed.timezone == "Europe/Berlin" and changed.etag.startswith('"')
    made = resource.create_event(
        inbox_id, title="Review", start="2030-01-07T09:00:00", end="2030-01-07T10:00:00", metadata={"room": 7},
        recurrence=RecurrenceInput(rule="FREQ=DAILY;COUNT=3"), attendees=[Attendee(email=ask("human")["address"])],
        client_id=ask("name")["name"])
    event = made.event
    assert (event.kind, event.timezone, event.recurrence.rule) == ("series", "Europe/Berlin", "FREQ=DAILY;COUNT=3"), event
    assert event.start_at.isoformat() == "2030-01-07T08:00:00+00:00" and made.operation_id
    window = {"after": event.start_at, "before": datetime(2030, 1, 31, tzinfo=timezone.utc)}
    dates = with_none(resource.list_event_instances, inbox_id, event.event_id, **window).events
    assert [each.original_start for each in dates] == [f"2030-01-0{day}T09:00:00" for day in (7, 8, 9)]
    assert [each.event_id for each in with_none(resource.get_agenda, inbox_id, **window).events] == [each.event_id for each in dates]
    edited = resource.update_event(inbox_id, dates[1].event_id, title="Moved", start="2030-01-08T11:00:00",
                                   end="2030-01-08T12:00:00").event
    assert (edited.kind, edited.is_exception, edited.title) == ("instance", True, "Moved")
    etag = with_none(resource.get_event, inbox_id, event.event_id).etag
    resource.update_event(inbox_id, event.event_id, location="Room 7", if_match=etag)
    stale = refused(ApiError, resource.update_event, inbox_id, event.event_id, location="Room 8", if_match=etag)
    assert stale.status_code == 412, stale
    cancelled = with_none(resource.delete_event, inbox_id, dates[2].event_id)
    assert cancelled.event.status == "cancelled" and cancelled.operation_id
    assert len(with_none(resource.list_events, inbox_id).events) == 2
    invited = ask("invitation", to=inbox_id)["event_id"]
    answered = with_none(resource.respond_to_event, inbox_id, invited, status="accepted").event
    assert answered.source == "email" and [each.status for each in answered.attendees] == ["accepted"]
    assert with_none(resource.delete_event, inbox_id, event.event_id).deletion_id
    refused(NotFoundError, resource.get_event, inbox_id, event.event_id)


def code_of(error):
    """An undeclared error contains the document as received, a declared one an object."""
    return error.body["code"] if isinstance(error.body, dict) else error.body.code


def errors(inbox_id):
    missing = refused(NotFoundError, client.inboxes.get, "nobody@restante.test")
    assert missing.body.code == "not_found" and missing.body.message == "Inbox not found"
    wrong = refused(ValidationError, client.inboxes.create, request=CreateInboxRequest(username="two words"))
    assert wrong.body.errors[0]["path"] == ["username"], wrong.body
    assert refused(ApiError, client_with("am_us_" + "0" * 64).auth.me).status_code == 401
    name = inbox_id.split("@")[0]
    taken = refused(ApiError, client.inboxes.create, request=CreateInboxRequest(username=name))
    assert (taken.status_code, code_of(taken)) == (403, "already_exists"), taken
    assert "already exists" in str(taken)


def stream(inbox_id):
    with client.websockets.connect() as socket:
        socket.send_subscribe(Subscribe(event_types=["message.received"], inbox_ids=[inbox_id], pod_ids=None))
        subscribed = socket.recv()
        assert subscribed.type == "subscribed" and subscribed.organization_id, subscribed
        message_id = ask("mail", to=inbox_id, subject="Ping")["message_id"]
        event = socket.recv()
        assert type(event).__name__ == "MessageReceivedEvent", event
        assert event.message.message_id == message_id and event.thread.message_count == 1
    try:
        with client_with("am_us_" + "0" * 64).websockets.connect():
            raise AssertionError("the handshake was not refused")
    except (ApiError, WebSocketException) as error:
        # Which of the two it is depends on the version of websockets.
        assert "403" in str(error), error


def metrics(resource, *scope):
    kinds = ["message.received", "message.sent"]
    events = until(lambda: seen(with_none(resource.query_events, *scope, event_types=kinds, descending=True)))
    assert set(events) == set(kinds) and events["message.received"][0].count == 1
    by_hour = resource.query_events(*scope, event_types=kinds, period=3600, limit=1)
    assert by_hour["message.received"][0].timestamp.tzinfo is not None
    usage = with_none(resource.query_usage, *scope, usage_types=["message_count"], period=3600)
    assert list(usage) == ["message_count"] and len(usage["message_count"]) == 24
    rates = with_none(resource.query_rates, *scope, rate_types=["bounce"], period=3600, window=7200)
    assert list(rates) == ["bounce"] and len(rates["bounce"]) == 24
    assert all((point.rate is None) == (point.sent == 0) for point in rates["bounce"])


def seen(events):
    return events if all(events.values()) else None


def create_in(pod_id):
    return lambda **given: with_none(client.pods.inboxes.create, pod_id, **given)


def create_anywhere(**given):
    unset = {"domain": None, "client_id": None, "status": None}
    return client.inboxes.create(request=CreateInboxRequest(**given, **unset))


identity()
pod_id = pods()
inbox_id = inboxes(client.inboxes, create_anywhere)
in_pod = inboxes(client.pods.inboxes, create_in(pod_id), pod_id)
keys(client.api_keys)
keys(client.pods.api_keys, pod_id)
keys(client.inboxes.api_keys, inbox_id)
message = mail(inbox_id)
threads(message)
filters(message)
texts(inbox_id)
domains(client.domains)
domains(client.pods.domains, pod_id)
setup_link()
webhooks(client.webhooks)
webhooks(client.pods.webhooks, pod_id)
webhooks(client.inboxes.webhooks, inbox_id)
drafts(client.drafts, inbox_id)
drafts(client.pods.drafts, in_pod, pod_id)
drafts(client.inboxes.drafts, inbox_id, inbox_id)
lists(client.lists)
lists(client.pods.lists, pod_id)
lists(client.inboxes.lists, inbox_id)
apps(inbox_id)
apps(in_pod)
accounts(client.accounts, inbox_id)
accounts(client.pods.accounts, in_pod, pod_id)
accounts(client.inboxes.accounts, inbox_id, inbox_id)
calendar(inbox_id)
metrics(client.metrics)
metrics(client.pods.metrics, message.pod_id)
metrics(client.inboxes.metrics, inbox_id)
slashed(inbox_id)
errors(inbox_id)
stream(inbox_id)
client.inboxes.messages.delete(inbox_id, message.message_id)
client.pods.inboxes.delete(pod_id, in_pod)
client.pods.delete(pod_id)
client.inboxes.delete(inbox_id)
finish({"offered": offered(), "requests": requests})
