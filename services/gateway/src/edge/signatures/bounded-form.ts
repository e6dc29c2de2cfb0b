import type { IncomingMessage } from 'node:http'
import { LIMITS } from '@restante/contracts/vocabulary'
import { isInnerList, parseDictionary } from 'structured-headers'
import { FIXES, refusedBySignature, refusedSignature } from './refusals.ts'

const { header, labels, components } = LIMITS.signature

/**
 * The header names that a signature needs of a request: those it covers, and its own two headers. Checked before
 * anything is verified, because a verifier does work for each component, on the whole header that the component names:
 * without bounds one request of 32 KB, which needs no key, blocks the process for seconds.
 * @param bases named to the caller, for a signature that is too long.
 * @throws ApiError 401 for a form whose verification could cost more than that of a plain signature.
 */
export function requireBoundedForm(request: IncomingMessage, bases: readonly string[]): ReadonlySet<string> {
  const input = onlyLine(request, 'signature-input')
  const signature = onlyLine(request, 'signature')
  if (input.length > header) throw refusedSignature(FIXES.size)
  if (signature.length > header) throw refusedBySignature(bases)
  return new Set(['signature-input', 'signature', ...coveredNames(input)])
}

function onlyLine({ headersDistinct }: IncomingMessage, name: string): string {
  const lines = headersDistinct[name] ?? []
  const [line] = lines
  if (line === undefined || lines.length > 1) throw refusedSignature(FIXES.form)
  return line
}

/**
 * The components of all labels. A component with a parameter is only a part of a header or request, which this API does
 * not need.
 */
function coveredNames(input: string): string[] {
  const names: string[] = []
  const members = [...dictionaryOf(input).values()]
  if (members.length > labels) throw refusedSignature(FIXES.size)
  for (const member of members) {
    if (!isInnerList(member)) throw refusedSignature(FIXES.form)
    if (member[0].length > components) throw refusedSignature(FIXES.size)
    for (const [name, parameters] of member[0]) {
      if (parameters.size > 0) throw refusedSignature(FIXES.coverage)
      names.push(String(name))
    }
  }
  return names
}

function dictionaryOf(input: string): ReturnType<typeof parseDictionary> {
  try {
    return parseDictionary(input)
  } catch (error) {
    throw refusedSignature(FIXES.form, error)
  }
}
