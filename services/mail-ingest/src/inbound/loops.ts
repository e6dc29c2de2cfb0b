import { LIMITS } from '@restante/contracts'
import { normalizeAddress } from '@restante/mime'
import { UnusableContent } from './unusable-content.ts'

/** A mail that goes in circles (RFC 5321 6.3). */
export class LoopDetected extends UnusableContent {
  override readonly name = 'LoopDetected'
}

/** Hops that a mail may have come over. */
const MOST_HOPS = 50
/** Times that a mail may have come to one inbox before: once, when its owner sends it back by hand. */
const MOST_ARRIVALS = 1

export interface LoopRule {
  /** Our name in the `Received` fields that we add. */
  readonly hostname: string
  /** Addresses of the inboxes that the mail is for. */
  readonly inboxes: readonly string[]
}

/**
 * Yields the bytes of a mail, and throws once its header shows a loop: more than 50 `Received` fields, or two of ours for
 * the same inbox. Anybody can write such fields; whoever does has only the own mail refused.
 * @throws LoopDetected
 */
export async function* withoutLoops(content: AsyncIterable<Buffer>, rule: LoopRule): AsyncGenerator<Buffer, void> {
  const header = new HeaderCollector()
  for await (const chunk of content) {
    if (header.add(chunk)) refuseLoop(header.text, rule)
    yield chunk
  }
  if (header.end()) refuseLoop(header.text, rule)
}

/** The header block at the beginning of a mail, gathered from its chunks; what exceeds the limit is left out. */
class HeaderCollector {
  #text = ''
  #complete = false

  get text(): string {
    return this.#text
  }

  /** @returns whether this chunk completed it. */
  add(chunk: Buffer): boolean {
    if (this.#complete) return false
    const room = LIMITS.mime.headerBytes - this.#text.length
    // The empty line may begin in the chunk before.
    const from = Math.max(0, this.#text.length - 3)
    this.#text += chunk.toString('latin1', 0, room)
    const end = this.#text.startsWith('\r\n') ? 0 : this.#text.indexOf('\r\n\r\n', from)
    if (end < 0 && this.#text.length < LIMITS.mime.headerBytes) return false
    if (end >= 0) this.#text = this.#text.slice(0, end)
    this.#complete = true
    return true
  }

  /** The mail has ended. @returns whether that completed it. */
  end(): boolean {
    const completed = !this.#complete
    this.#complete = true
    return completed
  }
}

function refuseLoop(header: string, { hostname, inboxes }: LoopRule): void {
  const hops = header.split(/\r\n(?![ \t])/).filter((field) => /^received[ \t]*:/i.test(field))
  if (hops.length > MOST_HOPS) throw new LoopDetected(`more than ${MOST_HOPS} hops`)
  const arrivals = hops.flatMap((field) => recipientOf(field, hostname) ?? [])
  for (const inbox of inboxes) {
    const before = arrivals.filter((recipient) => recipient === inbox || withoutTag(recipient) === inbox)
    if (before.length > MOST_ARRIVALS) throw new LoopDetected('the mail has been here before')
  }
}

/** For whom a `Received` field of ours took the mail (`traceLines`). */
function recipientOf(field: string, hostname: string): string | undefined {
  const [, by, recipient] = /[\s:]by[ \t]+(\S+)[\s\S]*?\sfor[ \t]+<([^<>]*)>;/i.exec(field) ?? []
  return by?.toLowerCase() === hostname && recipient !== undefined ? normalizeAddress(recipient) : undefined
}

function withoutTag(address: string): string {
  return address.replace(/\+[^@]*@/, '@')
}
