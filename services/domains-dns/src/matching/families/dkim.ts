import { shown, txtValue } from './found.ts'
import { tagsOf } from './tags.ts'
import { invalid, missing, VALID, type Verdict } from './verdict.ts'

/** TXT records at the name of the key, of which exactly one must publish it; tags other than `p` are ignored. */
export function judgeDkim(records: readonly (readonly string[])[], expected: string): Verdict {
  const values = records.map(txtValue)
  const keys = values.filter((value) => keyOf(value) !== undefined)
  const matching = keys.filter((value) => keyOf(value) === keyOf(expected))
  if (keys.length === 1 && matching.length === 1) return VALID
  if (keys.length === 0) return missing(shown(values))
  return invalid(matching.length > 0 ? 'duplicate_records' : 'value_mismatch', shown(keys))
}

/** The published key in base64; empty where it is revoked, undefined where the value is no key. */
export function keyOf(value: string): string | undefined {
  return tagsOf(value.replace(/\s/g, '')).get('p')
}
