"""What the public templates do: set up an inbox and a webhook, answer each mail, by webhook and by socket."""

import asyncio
import json
import os
import threading
import time
from email.utils import parseaddr
from http.server import BaseHTTPRequestHandler, HTTPServer

import standardwebhooks
import svix.webhooks
import websockets
from agentmail import AgentMail, AsyncAgentMail, MessageReceivedEvent, Subscribe
from agentmail.inboxes import CreateInboxRequest
from harness import ENVIRONMENT, ask, finish

client = AgentMail(environment=ENVIRONMENT, api_key=os.environ["AGENTMAIL_API_KEY"])


def set_up(purpose, address):
    """Creates both twice, as a restarted program does: the client_id returns the same inbox and webhook."""
    name = ask("name")["name"]
    for _ in range(2):
        inbox = client.inboxes.create(request=CreateInboxRequest(username=name, client_id=f"{name}-inbox"))
        webhook = address and client.webhooks.create(
            url=f"{address}/{purpose}",
            event_types=["message.received"],
            inbox_ids=[inbox.inbox_id],
            client_id=f"{name}-webhook",
        )
    return inbox.inbox_id, webhook


def reply_to(message):
    """The reply of the templates: a greeting by the name in From, to the address in From."""
    name, address = parseaddr(message.get("from_") or message["from"])
    text = f"Hi {name or address},\n\nThank you for {message['subject']}."
    inbox_id, message_id = message["inbox_id"], message["message_id"]
    client.inboxes.messages.reply(inbox_id=inbox_id, message_id=message_id, to=[address], text=text)
    history = history_of(message["thread_id"], count=2)
    assert ["Thank you" in (each.text or "") for each in history] == [False, True], history


def history_of(thread_id, count):
    """The messages of a thread. The copy of one just sent is there at once, unless the mailbox was too busy for it."""
    for _ in range(300):
        history = client.threads.get(thread_id=thread_id).messages
        if len(history) >= count:
            return history
        time.sleep(0.1)
    raise AssertionError(f"the thread has not got {count} messages: {history}")


def verify(headers, body, secret):
    """With both public libraries, each of which gets one of the two families of headers. They raise what is wrong."""
    headers = {name.lower(): value for name, value in headers.items()}
    for family, library in (("svix", svix.webhooks), ("webhook", standardwebhooks)):
        own = {name: value for name, value in headers.items() if name.startswith(f"{family}-")}
        library.Webhook(secret).verify(body, own)


def by_webhook():
    received = []
    arrived = threading.Event()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append((dict(self.headers.items()), body))
            self.send_response(200)
            self.end_headers()
            arrived.set()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    inbox_id, webhook = set_up("hook", f"http://127.0.0.1:{server.server_port}")
    ask("mail", to=inbox_id, subject="Your hours")
    assert arrived.wait(30), "the webhook was not called"
    headers, body = received[0]
    verify(headers, body, webhook.secret)
    payload = json.loads(body)
    assert payload["event_type"] == "message.received"
    reply_to(payload["message"])
    server.shutdown()


def by_raw_socket():
    inbox_id, _ = set_up("raw", None)

    async def listen():
        url = f"{os.environ['STREAMS']}/v0"
        headers = {"Authorization": f"Bearer {os.environ['AGENTMAIL_API_KEY']}"}
        async with websockets.connect(url, additional_headers=headers) as socket:
            await socket.send(json.dumps({"type": "subscribe", "inbox_ids": [inbox_id]}))
            async for frame in socket:
                event = json.loads(frame)
                if event["type"] == "subscribed":
                    # Spam arrives first and must not reach a program that answers everything.
                    ask("spam", to=inbox_id)
                    ask("mail", to=inbox_id, subject="A demo")
                elif event.get("event_type", "").startswith("message.received"):
                    return event

    event = asyncio.run(listen())
    assert event["event_type"] == "message.received" and event["message"]["subject"] == "A demo", event
    reply_to(event["message"])


def by_client_socket():
    inbox_id, _ = set_up("async", None)

    async def listen():
        agent = AsyncAgentMail(environment=ENVIRONMENT, api_key=os.environ["AGENTMAIL_API_KEY"])
        async with agent.websockets.connect() as socket:
            await socket.send_subscribe(Subscribe(inbox_ids=[inbox_id]))
            async for event in socket:
                if event.type == "subscribed":
                    ask("mail", to=inbox_id, subject="A meeting")
                if isinstance(event, MessageReceivedEvent):
                    await agent.inboxes.messages.reply(inbox_id, event.message.message_id, text="Gladly.")
                    await agent.inboxes.messages.update(
                        inbox_id, event.message.message_id, add_labels=["replied"], remove_labels=["unread"]
                    )
                    return event.message.message_id

    message_id = asyncio.run(listen())
    assert client.inboxes.messages.get(inbox_id, message_id).labels == ["received", "replied"]


by_webhook()
by_raw_socket()
by_client_socket()
finish({})
