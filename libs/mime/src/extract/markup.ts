import { type HtmlElement, walkHtml } from '../html/walk.ts'
import type { Role } from './lines/line.ts'

/** What client markup says about the text from an offset on, up to that of the next one. */
export interface Markup {
  readonly start: number
  readonly role: Role | undefined
}

/** A container in which a client puts all that it quotes. */
export interface Container {
  readonly start: number
  readonly end: number
}

export interface MarkupOf {
  /** Ascending. */
  readonly roles: readonly Markup[]
  /** The outermost ones, ascending. */
  readonly containers: readonly Container[]
}

/** What an element means by its markup. */
type Meaning = Role | 'container'

/** Classes, ids and names by which clients mark elements. */
const MEANINGS: Readonly<Record<Meaning, { classes?: string; ids?: string; names?: string }>> = {
  container: {
    classes:
      'gmail_quote gmail_quote_container yahoo_quoted protonmail_quote tutanota_quote zmail_extra ntes-mailmaster-quote alimail-quote lark-mail-quote history-quote-wrapper missive_quote front-quote',
    ids: 'OLK_SRC_BODY_SECTION isReplyContent',
    names: 'quote messageReplySection',
  },
  attribution: {
    classes: 'gmail_attr moz-cite-prefix airmail_on gmail_quote_attribution',
    ids: 'reply-intro',
  },
  history: {
    ids: 'divRplyFwdMsg appendonsend mail-editor-reference-message-container',
  },
  cited: {},
  citation: {},
  signature: {
    classes:
      'gmail_signature gmail_signature_prefix moz-signature protonmail_signature_block protonmail_signature_block-user k9mail-signature sh-signature bloop_sign',
    ids: 'AppleMailSignature ms-outlook-mobile-signature Signature composer_signature',
    names: 'messageSignatureSection',
  },
}

/** The rules by which Hotmail and Zimbra set off what they quote. */
const RULES = new Set(['stopSpelling', 'zwchr'])

const byName = (kind: 'classes' | 'ids' | 'names'): ReadonlyMap<string, Meaning> =>
  new Map(
    Object.entries(MEANINGS).flatMap(([meaning, marks]) =>
      (marks[kind] ?? '')
        .split(' ')
        .filter((name) => name !== '')
        .map((name) => [name, meaning as Meaning] as const),
    ),
  )
const CLASSES = byName('classes')
const IDS = byName('ids')
const NAMES = byName('names')

/** Reads what the markup of known clients says about the text of a page. Linear in its length. */
export function readMarkup(html: string): MarkupOf {
  const roles: Markup[] = []
  const containers: Container[] = []
  const open: { element: HtmlElement; role: Role | undefined }[] = []
  let container: HtmlElement | undefined
  const begin = (start: number): void => void roles.push({ start, role: roleOfOpen(open) })
  walkHtml(html, {
    open(element) {
      const meaning = meaningOf(element)
      if (meaning === 'history') {
        // Inside a quote it belongs to an earlier message.
        if (open.length === 0 && container === undefined) roles.push({ start: element.start, role: 'history' })
        return
      }
      if (element.empty || meaning === undefined) return
      if (meaning === 'container') {
        container ??= element
        return
      }
      open.push({ element, role: meaning })
      begin(element.start)
    },
    close(element, end) {
      if (container === element) {
        containers.push({ start: element.start, end })
        container = undefined
      }
      if (open.at(-1)?.element !== element) return
      open.pop()
      begin(end)
    },
  })
  return { roles, containers }
}

/** The role of text inside these elements: what is quoted is quoted, whatever is inside it. */
function roleOfOpen(open: readonly { role: Role | undefined }[]): Role | undefined {
  return open[0]?.role
}

function meaningOf(element: HtmlElement): Meaning | undefined {
  const { name, attributes } = element
  const ofName = name === 'div' ? NAMES.get(attributes.get('name') ?? '') : undefined
  const meaning = IDS.get(attributes.get('id') ?? '') ?? ofName ?? meaningOfClasses(attributes.get('class') ?? '')
  if (name === 'hr' && RULES.has(attributes.get('id') ?? '')) return 'history'
  if (name !== 'blockquote') return meaning
  if (attributes.get('type')?.toLowerCase() === 'cite' || meaning === 'container') {
    return attributes.get('class')?.includes('gmail_quote') ? 'citation' : 'cited'
  }
  return meaning ?? 'citation'
}

function meaningOfClasses(classes: string): Meaning | undefined {
  if (classes === '') return undefined
  for (const name of classes.split(/\s+/, 20)) {
    // Yahoo puts a number of its own ahead of its classes.
    const meaning = CLASSES.get(name.replace(/^ydp[0-9a-f]{1,12}(?=yahoo)/, ''))
    if (meaning !== undefined) return meaning
  }
  return undefined
}
