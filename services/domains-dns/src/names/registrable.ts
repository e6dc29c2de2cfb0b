import { isIP } from 'node:net'
import { LIMITS } from '@restante/contracts/vocabulary'
import { invalid } from '@restante/service/errors'
import { getPublicSuffix } from 'tldts'
import { asciiName } from './ascii.ts'

/** Top-level names that no public DNS has (IANA's registry of special-use names; RFC 6761, 6762, 7686, 9476). */
const SPECIAL_USE = new Set(['alt', 'arpa', 'example', 'internal', 'invalid', 'local', 'localhost', 'onion', 'test'])

/**
 * The name that a request registers, in its compared form (domains 2.1).
 * @param allowsSpecialUse whether this installation accepts names below special-use ones.
 * @throws ApiError 400 at `domain` for a name that nobody can register.
 */
export function registrableName(text: string, allowsSpecialUse: boolean): string {
  if (isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0) throw refused('must not be an IP address')
  const name = asciiName(text)
  const { min, max } = LIMITS.domain.name
  if (name === undefined || name.length < min) {
    throw refused(
      `must be the name of a domain of ${min} to ${max} characters, in labels of 1 to ${LIMITS.domain.label} letters, digits and hyphens, such as example.com`,
    )
  }
  const labels = name.split('.')
  const top = labels.at(-1) ?? ''
  if (labels.length < 2) throw refused('must have at least two labels, such as example.com')
  // RFC 1123 2.1: what ends in a number is an address, in one of its many spellings.
  if (/^(\d+|0x[\da-f]*)$/.test(top)) throw refused('must not be an IP address')
  if (SPECIAL_USE.has(top) && !allowsSpecialUse) throw refused(`must not be below .${top}, which is not in public DNS`)
  // Only the section of ICANN counts: names such as github.io belong to one owner each.
  if (getPublicSuffix(name) === name) throw refused('must not be a public suffix; name a domain below it')
  return name
}

/** The names that could be registered above a name, itself first: `a.b.example.com` down to `example.com`. */
export function namesFrom(name: string): readonly string[] {
  const labels = name.split('.')
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
}

function refused(problem: string) {
  return invalid(['domain'], `The domain ${problem}`)
}
