import { posix } from 'node:path'

/** Code, in which nothing is a link; or a link or an image, with what stands before its text, its text and its target. */
const CODE_OR_LINK = /^ *```[\s\S]*?^ *```|(`+)[^`][\s\S]*?\1|(!?)\[((?:[^[\]`]|`[^`]*`)*)\]\(([^()\s]+)\)/gm

/** Finds the address of a file, given by its path below the folder of documents. Undefined: it is not served. */
export type AddressOf = (file: string) => string | undefined

/**
 * Directs the links of a document to where its targets are served. A link to a file that is not served becomes its text,
 * and such an image its description.
 * @param file of the document, to which its links are relative.
 */
export function redirectLinks(markdown: string, file: string, addressOf: AddressOf): string {
  return markdown.replace(CODE_OR_LINK, (whole: string, _, mark: string, text: string, target?: string) => {
    if (target === undefined || /^([a-z]+:|#)/.test(target)) return whole
    const [path = '', fragment] = target.split('#')
    const address = addressOf(posix.join(posix.dirname(file), path))
    if (address === undefined) return text
    return `${mark}[${text}](${address}${fragment === undefined ? '' : `#${fragment}`})`
  })
}
