import { visibleText } from '@restante/mime/visible-text'
import { codePointStart, cutAt } from './cut.ts'
import { showText } from './shown-text.ts'

/** The bodies of a message, as the API answers them. */
export interface Bodies {
  readonly text?: string | undefined
  readonly html?: string | undefined
  readonly extracted_text?: string | undefined
  readonly extracted_html?: string | undefined
}

export type BodySource = 'extracted_text' | 'text' | 'extracted_html' | 'html'

/** A page of a body. Positions and lengths are counted in UTF-16 units of the whole shown text. */
export interface ShownBody {
  readonly text: string
  readonly source: BodySource
  readonly totalChars: number
  readonly offset: number
  /** Where the next page begins; absent on the last one. */
  readonly nextOffset?: number
  /** How many characters the html holds that a person does not see; left out. */
  readonly hiddenChars?: number
  /** How many invisible characters were removed. */
  readonly removedChars?: number
  /** How many characters of the html were not read, because it is too long or nested too deep. */
  readonly unreadChars?: number
}

export interface BodyOptions {
  readonly maxChars?: number | undefined
  readonly offset?: number | undefined
  /** The whole body with what it quotes, instead of only what the message adds. */
  readonly full?: boolean | undefined
}

/** How much of a body one answer holds (mcp 3). */
export const MAX_BODY_CHARS = 8_000

/**
 * A page of what a message says. Its plain text is preferred, which is what its sender wrote: the mailbox makes no
 * text of html (`@restante/mime`, `readMail`). Html is read as a person sees it. A body of which nothing is seen is passed over.
 * Pages in the order of `nextOffset` hold the whole text, each character once.
 */
export function shownBody(
  message: Bodies,
  { maxChars = MAX_BODY_CHARS, offset = 0, full = false }: BodyOptions = {},
): ShownBody {
  const whole = readBody(message, full)
  const start = codePointStart(whole.text, Math.min(Math.max(0, Math.trunc(offset)), whole.text.length))
  const end = cutAt(whole.text, start, Math.trunc(maxChars))
  return {
    ...whole,
    text: whole.text.slice(start, end),
    totalChars: whole.text.length,
    offset: start,
    ...(end < whole.text.length && { nextOffset: end }),
  }
}

type Whole = Pick<ShownBody, 'text' | 'source' | 'hiddenChars' | 'removedChars' | 'unreadChars'>

function readBody(message: Bodies, full: boolean): Whole {
  const order: readonly BodySource[] = full
    ? ['text', 'html', 'extracted_text', 'extracted_html']
    : ['extracted_text', 'text', 'extracted_html', 'html']
  let blank: Whole | undefined
  for (const source of order) {
    const body = message[source]
    if (body === undefined) continue
    const whole = readSource(body, source)
    if (whole.text !== '') return whole
    blank ??= whole
  }
  return blank ?? { text: '', source: full ? 'text' : 'extracted_text' }
}

function readSource(body: string, source: BodySource): Whole {
  const isHtml = source === 'html' || source === 'extracted_html'
  const {
    text: read,
    hiddenChars,
    unreadChars,
  } = isHtml ? visibleText(body) : { text: body, hiddenChars: 0, unreadChars: 0 }
  const { text, removedChars } = showText(read)
  return {
    text: text.trim(),
    source,
    ...(hiddenChars > 0 && { hiddenChars }),
    ...(removedChars > 0 && { removedChars }),
    ...(unreadChars > 0 && { unreadChars }),
  }
}
