"""The tools of the public toolkit, called as its adapters do: with None for what a model leaves out."""

from agentmail.core import ApiError
from agentmail_toolkit import AgentMailToolkit
from harness import ask, client, finish, until

toolkit = AgentMailToolkit(client)
used = set()


def use(name, **arguments):
    """Runs a tool with arguments as its schema creates them from the output of a model."""
    used.add(name)
    (tool,) = toolkit.get_tools([name])
    return tool.func(**tool.params_schema(**arguments).model_dump())


inbox = use("create_inbox", username=ask("name")["name"])
inbox_id = inbox.inbox_id
assert use("get_inbox", inbox_id=inbox_id).email == inbox_id
assert inbox_id in [each.inbox_id for each in use("list_inboxes").inboxes]

message_id = ask("mail", to=inbox_id, subject="Order 7", attachment="receipt")["message_id"]
(thread,) = until(lambda: use("list_threads", inbox_id=inbox_id, labels=["unread"]).threads)
(message,) = use("get_thread", inbox_id=inbox_id, thread_id=thread.thread_id).messages
assert message.message_id == message_id and message.extracted_text == "How are you?"
labels = use("update_message", inbox_id=inbox_id, message_id=message_id, remove_labels=["unread"]).labels
assert labels == ["received"]

to = ask("human")["address"]
note = {"filename": "note.txt", "content": "aGVsbG8="}
sent = use("send_message", inbox_id=inbox_id, to=[to], subject="Hello", text="Hi", attachments=[note])
answered = use("reply_to_message", inbox_id=inbox_id, message_id=message_id, text="Yes", reply_all=True)
assert answered.thread_id == thread.thread_id and sent.thread_id != thread.thread_id

attachment_id = message.attachments[0].attachment_id
assert use("get_attachment", inbox_id=inbox_id, thread_id=thread.thread_id, attachment_id=attachment_id)
forwarded = use("forward_message", inbox_id=inbox_id, message_id=message_id, to=[to])
assert forwarded.thread_id == thread.thread_id

# An ordinary organization has no human to attach and nothing to verify: the errors of the tools say so, and what to do.
for name, arguments in (("agent_attach_human", {"human_email": to}), ("agent_verify", {"otp_code": "123456"})):
    try:
        use(name, **arguments)
        raise AssertionError(f"{name} was not refused")
    except ApiError as error:
        assert error.status_code == 403, error

use("delete_inbox", inbox_id=inbox_id)
assert used == {tool.name for tool in toolkit.get_tools()}, "a tool is not used here"
finish({"used": sorted(used)})
