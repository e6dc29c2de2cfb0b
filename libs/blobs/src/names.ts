import { InvalidBlobNameError } from './errors.ts'

/** Starts with a letter or digit, so neither `..` nor a hidden file nor a store's own folder can be named. */
const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const MAX_LENGTH = 512

export interface BlobName {
  readonly folders: readonly string[]
  readonly leaf: string
}

/**
 * Parses a blob's name.
 * @throws InvalidBlobNameError unless it is `segment/segment/...`, each of letters, digits, `.`, `_` and `-`.
 */
export function parseName(name: string): BlobName {
  if (name.length > MAX_LENGTH) throw new InvalidBlobNameError(`longer than ${MAX_LENGTH} characters`)
  const folders = name.split('/')
  const leaf = folders.pop() ?? ''
  if (![...folders, leaf].every((segment) => SEGMENT.test(segment)))
    throw new InvalidBlobNameError(
      `${JSON.stringify(name)} must be segments of letters, digits, ".", "_", "-" between "/"`,
    )
  return { folders, leaf }
}

/**
 * Parses a prefix, which consists of whole segments and ends with `/`: `mail/42/` never means `mail/421/...`.
 * @throws InvalidBlobNameError when it does not.
 */
export function parsePrefix(prefix: string): readonly string[] {
  if (!prefix.endsWith('/')) throw new InvalidBlobNameError(`the prefix ${JSON.stringify(prefix)} must end with "/"`)
  const { folders, leaf } = parseName(prefix.slice(0, -1))
  return [...folders, leaf]
}
