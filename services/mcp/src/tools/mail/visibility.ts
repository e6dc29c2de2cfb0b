/** Which of the mail that is left out a call has asked for. */
export interface IncludeFlags {
  readonly includeSpam?: boolean | undefined
  readonly includeBlocked?: boolean | undefined
  readonly includeUnauthenticated?: boolean | undefined
  readonly includeTrash?: boolean | undefined
}

const FLAGS = {
  spam: 'includeSpam',
  blocked: 'includeBlocked',
  unauthenticated: 'includeUnauthenticated',
  trash: 'includeTrash',
} as const satisfies Record<string, keyof IncludeFlags>

/** Whether a message is one of those that are shown only on request (mcp 3). */
export function isLeftOut(labels: readonly string[], flags: IncludeFlags): boolean {
  return Object.entries(FLAGS).some(([label, flag]) => labels.includes(label) && flags[flag] !== true)
}

interface Found {
  readonly preview?: string | undefined
  readonly highlights?: object | undefined
}

/**
 * A message that a search has found. A search also finds hidden text of HTML, so excerpts of a body are shown only if the
 * message has a text part. Such a message has a preview.
 */
export function foundMessage<Message extends Found>(message: Message): Message {
  return message.preview === undefined ? foundThread(message) : message
}

/** The same for a thread. Excerpts of bodies are left out, because the message that was found is not known. */
export function foundThread<Thread extends Found>(thread: Thread): Thread {
  if (thread.highlights === undefined) return thread
  return { ...thread, highlights: { ...thread.highlights, text: undefined } }
}
