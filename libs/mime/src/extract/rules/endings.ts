import type { Line } from '../lines/line.ts'
import { ADDRESS } from '../vocabulary/dates.ts'
import { anyOf, wordsOf } from '../vocabulary/match.ts'

const CLOSING = new RegExp(`^[ *_]*${anyOf(wordsOf('closing'))}(?![\\p{L}\\p{N}])[ *_,.!]{0,4}`, 'u')
const LINK =
  /^ *(?:\[(?:cid|image|logo|https?)[^\]]{0,300}\]|[<[(]{0,2}(?:https?:\/\/|www\.)[^ ]{1,500}|\ufffc)+ *>? *$/u
/** A telephone number, an address or a link, with what it is for. */
const CONTACT = new RegExp(
  `^ *(?:[\\p{L}.-]{1,12} ?[.:|] ?)?(?:\\+?[\\d(][\\d ()./-]{5,30}|[<[(]?(?:mailto:)?${ADDRESS}[>\\])]?|(?:https?://|www\\.)[^ ]{1,300}) *$`,
  'u',
)
const NAME =
  /^(?:\p{Lu}[\p{L}.'’-]*(?:\s(?:de|van|von|der|den|da|di|del|la|le|bin|al|el|of|and|for|und|für|et|pour|y|e)(?=\s))*(?:,?\s|$)){1,4}$/u

const MAX_NAME = 40

/** `Kind regards,` alone or with a name. */
export function isClosing(line: Line): boolean {
  const name = nameAfterClosing(line)
  return name !== undefined && (name === '' || isName(name))
}

/** `Kind regards,` without a name. */
export function isBareClosing(line: Line): boolean {
  return nameAfterClosing(line) === ''
}

function nameAfterClosing({ folded, text }: Line): string | undefined {
  const closing = CLOSING.exec(folded)
  return closing === null ? undefined : text.slice(closing[0].length).trim()
}

/** One to four capitalised words. */
export function isName(text: string): boolean {
  return text.length <= MAX_NAME && NAME.test(text)
}

/** A way to reach somebody, alone on its line. */
export function isContact(line: Line): boolean {
  return line.folded.length <= 200 && CONTACT.test(line.folded)
}

/** A link or an image, alone on its line. */
export function isLink(line: Line): boolean {
  return line.folded.length <= 1_000 && LINK.test(line.folded)
}
