import { SignedId, TOKEN_PATTERN } from './signed-id.ts'

const LINK = new RegExp(`/o/(${TOKEN_PATTERN})`, 'g')
const BODY_END = /<\/body\s*>/gi
/** Longest tag that is recognized. Bounds the search around each link. */
const TAG_LENGTH = 2_000

/**
 * The invisible image that tells of the opening of a message (mail 15.4): `https://<tracking host>/o/<token>`. The token
 * names the message and cannot be guessed.
 */
export class OpenImage {
  readonly #ids: SignedId

  constructor(secret: string) {
    this.#ids = new SignedId(secret, 'open image')
  }

  /**
   * The HTML with the image of a message at its end.
   * @param host lower case, in ASCII.
   * @param sendId a UUID.
   */
  addTo(html: string, host: string, sendId: string): string {
    const address = `https://${host}/o/${this.#ids.tokenFor(sendId)}`
    const image = `<img src="${address}" width="1" height="1" alt="" style="display:block;border:0;width:1px;height:1px">`
    const end = [...html.matchAll(BODY_END)].at(-1)?.index ?? html.length
    return html.slice(0, end) + image + html.slice(end)
  }

  /** The HTML without such images, whatever else their tags have: who reads or quotes it is not the recipient. */
  removeFrom(html: string): string {
    let kept = ''
    let from = 0
    for (const { index, 1: token = '' } of html.matchAll(LINK)) {
      if (index < from || this.#ids.idOf(token) === undefined) continue
      const tag = imageAround(html, index)
      if (!tag) continue
      kept += html.slice(from, tag.start)
      from = tag.end
    }
    return kept + html.slice(from)
  }

  /** @returns the message that a token identifies; undefined when it is altered or forged. */
  messageOf(token: string): string | undefined {
    return this.#ids.idOf(token)
  }
}

/** The tag of the image that a position is in. */
function imageAround(html: string, index: number): { start: number; end: number } | undefined {
  const earliest = Math.max(0, index - TAG_LENGTH)
  const before = html.slice(earliest, index)
  const opening = before.lastIndexOf('<')
  const closing = html.slice(index, index + TAG_LENGTH).indexOf('>')
  const isImage = opening >= 0 && closing >= 0 && /^<img\s[^>]*$/i.test(before.slice(opening))
  return isImage ? { start: earliest + opening, end: index + closing + 1 } : undefined
}
