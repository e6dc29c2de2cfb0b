import { attributeOf, type Element } from './css/selector.ts'

/** A link with the text that a person sees of it. */
export interface Link {
  readonly target: string
  text: string
}

/** Where a reader can be led to. Others run programs (`javascript:`), hold content (`data:`) or lead nowhere. */
const SHOWN_SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:', 'sms:', 'ftp:'])
/** A longer target is no address that somebody needs as a whole. */
const MAX_TARGET_CHARS = 2_000

/**
 * The link that an element is; undefined when it is none, or leads nowhere. The target is written as programs read it: a name
 * in look-alike letters as `xn--...`, white space as `%20`.
 */
export function linkOf(element: Element, base: string | undefined): Link | undefined {
  if (element.tagName !== 'a') return undefined
  const url = URL.parse(attributeOf(element, 'href') ?? '', base) ?? URL.parse(attributeOf(element, 'href') ?? '')
  if (url === null || !SHOWN_SCHEMES.has(url.protocol)) return undefined
  const target = url.href.replaceAll('<', '%3C').replaceAll('>', '%3E')
  return { target: target.length > MAX_TARGET_CHARS ? `${target.slice(0, MAX_TARGET_CHARS)}…` : target, text: '' }
}

/** What to write after a link; nothing when nothing of it is seen, or its text is its target. */
export function targetToShow(link: Link | undefined): string {
  if (link === undefined) return ''
  const text = link.text.trim()
  return text === '' || bare(text) === bare(link.target) ? '' : ` <${link.target}>`
}

function bare(address: string): string {
  return address.replace(/^(?:https?:\/\/|mailto:|tel:)/i, '').replace(/\/$/, '')
}
