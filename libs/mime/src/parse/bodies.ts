import type { Part } from './structure.ts'

/** The parts that are the mail's text; every other leaf is an attachment (mail 16). */
export interface Bodies {
  readonly text?: Part
  readonly html?: Part
}

/**
 * Chooses the one text/plain and the one text/html part that a reader would be shown. In document order the first
 * eligible part of each kind wins; in multipart/alternative the last html, because alternatives come in increasing
 * order of faithfulness (RFC 2046 5.1.4); in multipart/related only the root part counts (RFC 2387), in
 * multipart/signed only the signed part. Parts are never joined: a second text is an attachment.
 */
export function chooseBodies(part: Part): Bodies {
  return choose(part, true)
}

function choose(part: Part, mayBeNamed: boolean): Bodies {
  switch (part.type) {
    case 'text/plain':
      return isBody(part, mayBeNamed) ? { text: part } : {}
    case 'text/html':
      return isBody(part, mayBeNamed) ? { html: part } : {}
    case 'multipart/alternative':
      return alternative(part.children.map((child) => choose(child, true)))
    case 'multipart/related':
      return first([relatedRoot(part)], true)
    case 'multipart/signed':
    case 'multipart/report':
      return first(part.children.slice(0, 1), true)
    case 'multipart/encrypted':
      return {}
    default:
      return first(part.children, false)
  }
}

function alternative(bodies: readonly Bodies[]): Bodies {
  const text = bodies.find((body) => body.text !== undefined)?.text
  const html = bodies.findLast((body) => body.html !== undefined)?.html
  return { ...(text && { text }), ...(html && { html }) }
}

function first(parts: readonly (Part | undefined)[], mayBeNamed: boolean): Bodies {
  let found: Bodies = {}
  for (const part of parts) {
    if (part !== undefined) found = { ...choose(part, mayBeNamed), ...found }
    if (found.text !== undefined && found.html !== undefined) break
  }
  return found
}

/** A named part of multipart/mixed is a file, even when its sender wants it shown inline. */
function isBody(part: Part, mayBeNamed: boolean): boolean {
  if (part.disposition?.value === 'attachment') return false
  return mayBeNamed || !(part.disposition?.parameters.has('filename') || part.parameters.has('name'))
}

function relatedRoot(part: Part): Part | undefined {
  const start = part.parameters.get('start')
  const named =
    start && part.children.find((child) => child.fields.some((f) => /^content-id$/i.test(f.name) && f.value === start))
  return named || part.children[0]
}
