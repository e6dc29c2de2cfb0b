import { LIMITS } from '@restante/contracts/vocabulary'
import { normalizeAddress } from '@restante/mime'
import { UnusableContentError } from '../raw/writer.ts'

/** A mail in a loop (RFC 5321 6.3). */
export class LoopDetectedError extends UnusableContentError {
  override readonly name = 'LoopDetectedError'
}

/** Most hops of a mail. */
const MOST_HOPS = 50
/**
 * How many earlier arrivals at the same inbox are allowed: one, because the owner of the inbox may send the mail back
 * by hand.
 */
const MOST_ARRIVALS = 1
/**
 * Longer than any `Received` field added here: a command has at most 4,096 bytes, and the field repeats parts of two.
 */
const TRACE_LENGTH = 10_000
/** A `Received` field added here, unfolded: a hop from another server, or an internal hand-over. */
const TRACE =
  /^received ?: ?(?:from [^ ]+ \(\[[^\]]*\]\) )?by ([^ ]+) (?:with [^ ]+ )?(?:\([^()]*\) )?id [^ ]+ for <([^<>]*)>;/i

export interface LoopRule {
  /** This server's name in the `Received` fields that it adds. */
  readonly hostname: string
  /** Addresses of the inboxes that the mail is for. */
  readonly inboxes: readonly string[]
  /** Mail to the operator only: the mark of forwarded mail. */
  readonly mark?: string | undefined
}

/**
 * Yields the bytes of a mail, and throws once its header shows a loop: more than 50 `Received` fields, two added here
 * for the same inbox, or the mark of mail that was forwarded to the operator. Such fields can be forged, which only causes the forger's own mail to be refused.
 * @throws LoopDetectedError
 */
export async function* withoutLoops(content: AsyncIterable<Buffer>, rule: LoopRule): AsyncGenerator<Buffer, void> {
  const header = new HeaderCollector()
  for await (const chunk of content) {
    if (header.add(chunk)) refuseLoop(header.text, rule)
    yield chunk
  }
  if (header.end()) refuseLoop(header.text, rule)
}

/** Collects the header block of a mail from its chunks; bytes beyond the limit are left out. */
class HeaderCollector {
  #parts: string[] = []
  #length = 0
  /** The end of the collected text: the empty line may begin in one chunk and end in the next. */
  #tail = ''
  #complete = false

  get text(): string {
    return this.#parts.join('')
  }

  /** @returns whether this chunk completed the header. */
  add(chunk: Buffer): boolean {
    if (this.#complete) return false
    const text = chunk.toString('latin1', 0, LIMITS.mime.headerBytes - this.#length)
    // A mail with an empty header begins with the empty line; with the leading line break its end is found, too.
    const seen = (this.#length === 0 ? '\r\n' : this.#tail) + text
    const end = seen.indexOf('\r\n\r\n')
    this.#parts.push(text)
    this.#length += text.length
    this.#tail = seen.slice(-3)
    this.#complete = end >= 0 || this.#length >= LIMITS.mime.headerBytes
    return this.#complete
  }

  /** Called at the end of the mail. @returns whether that completed the header. */
  end(): boolean {
    const completed = !this.#complete
    this.#complete = true
    return completed
  }
}

function refuseLoop(text: string, { hostname, inboxes, mark }: LoopRule): void {
  const [header = ''] = `\r\n${text}`.split('\r\n\r\n', 1)
  const fields = header.split(/\r\n(?![ \t])/)
  if (mark !== undefined && fields.some((field) => markOf(field) === mark))
    throw new LoopDetectedError('the mail was forwarded from here')
  const hops = fields.filter((field) => /^received[ \t]*:/i.test(field))
  if (hops.length > MOST_HOPS) throw new LoopDetectedError(`more than ${MOST_HOPS} hops`)
  const arrivals = new Map<string, number>()
  for (const recipient of hops.flatMap((field) => recipientOf(field, hostname) ?? [])) {
    for (const inbox of new Set([recipient, withoutTag(recipient)])) {
      arrivals.set(inbox, (arrivals.get(inbox) ?? 0) + 1)
    }
  }
  if (inboxes.some((inbox) => (arrivals.get(inbox) ?? 0) > MOST_ARRIVALS)) {
    throw new LoopDetectedError('the mail has been here before')
  }
}

/** The address in an `X-Loop` field, by which forwarders recognise what they have forwarded. */
function markOf(field: string): string | undefined {
  return field.length > TRACE_LENGTH ? undefined : /^x-loop[ \t]*:\s*(\S+)\s*$/i.exec(field)?.[1]?.toLowerCase()
}

/**
 * The recipient in a `Received` field added here. Only the form that `traceLines` writes is parsed: each part of the
 * pattern ends where the next begins, so that matching takes time linear to a field of bounded length.
 */
function recipientOf(field: string, hostname: string): string | undefined {
  if (field.length > TRACE_LENGTH) return undefined
  const [, by, recipient] = TRACE.exec(field.replace(/[ \t\r\n]+/g, ' ')) ?? []
  return by?.toLowerCase() === hostname && recipient !== undefined ? normalizeAddress(recipient) : undefined
}

function withoutTag(address: string): string {
  const [plus, at] = [address.indexOf('+'), address.lastIndexOf('@')]
  return plus < 0 || at < plus ? address : address.slice(0, plus) + address.slice(at)
}
