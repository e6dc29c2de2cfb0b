const STRING = '"(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
const MEMBER = new RegExp(`(${STRING})[ \\t\\n\\r]*:[ \\t\\n\\r]*(${STRING})`, 'g')
const OBJECT = new RegExp(
  `^[ \\t\\n\\r]*\\{(?:[ \\t\\n\\r]*MEMBER(?:[ \\t\\n\\r]*,[ \\t\\n\\r]*MEMBER)*)?[ \\t\\n\\r]*\\}[ \\t\\n\\r]*$`.replaceAll(
    'MEMBER',
    `${STRING}[ \\t\\n\\r]*:[ \\t\\n\\r]*${STRING}`,
  ),
)
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The members of a JSON object whose values are all strings. A parser keeps the last of two members of the same name, and
 * another one the first: a text with two is no object here, so that no two readers of it can differ.
 * @returns undefined for any other text.
 */
export function stringMembers(bytes: Uint8Array): ReadonlyMap<string, string> | undefined {
  const text = decode(bytes)
  if (text === undefined || !OBJECT.test(text)) return undefined
  const members = new Map<string, string>()
  for (const [, name = '""', value = '""'] of text.matchAll(MEMBER)) {
    const key = String(JSON.parse(name))
    if (members.has(key)) return undefined
    members.set(key, String(JSON.parse(value)))
  }
  return members
}

/** Whether an object has exactly these members, in any order. */
export function hasExactly(members: ReadonlyMap<string, string>, names: readonly string[]): boolean {
  return members.size === names.length && names.every((name) => members.has(name))
}

/** The bytes of unpadded base64url in its only spelling; undefined for any other text, and for an empty one. */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length > 0 && bytes.toString('base64url') === text ? bytes : undefined
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
