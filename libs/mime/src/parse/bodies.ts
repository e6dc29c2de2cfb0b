import type { Part } from './structure.ts'

/** The parts that are the mail's text, in the order in which they are read; every other leaf is an attachment (mail 16). */
export interface Bodies {
  readonly text: readonly Part[]
  readonly html: readonly Part[]
}

const NOTHING: Bodies = { text: [], html: [] }

/**
 * Chooses the text/plain and text/html parts that a reader would be shown. In multipart/mixed these are all that are not
 * files: Apple Mail writes the words after a file as a part of their own, and lists append their footer as one. In
 * multipart/alternative it is the first text and the last html, because alternatives come in increasing order of
 * faithfulness (RFC 2046 5.1.4); in multipart/related only the root part counts (RFC 2387), in multipart/signed only the
 * signed part.
 */
export function chooseBodies(part: Part): Bodies {
  return choose(part, true)
}

function choose(part: Part, mayBeNamed: boolean): Bodies {
  switch (part.type) {
    case 'text/plain':
      return isBody(part, mayBeNamed) ? { text: [part], html: [] } : NOTHING
    case 'text/html':
      return isBody(part, mayBeNamed) ? { text: [], html: [part] } : NOTHING
    case 'multipart/alternative':
      return alternative(part.children.map((child) => choose(child, true)))
    case 'multipart/related':
      return all([relatedRoot(part)], true)
    case 'multipart/signed':
    case 'multipart/report':
      return all(part.children.slice(0, 1), true)
    case 'multipart/encrypted':
      return NOTHING
    default:
      return all(part.children, false)
  }
}

function alternative(bodies: readonly Bodies[]): Bodies {
  return {
    text: bodies.find((body) => body.text.length > 0)?.text ?? [],
    html: bodies.findLast((body) => body.html.length > 0)?.html ?? [],
  }
}

function all(parts: readonly (Part | undefined)[], mayBeNamed: boolean): Bodies {
  const bodies = parts.map((part) => (part === undefined ? NOTHING : choose(part, mayBeNamed)))
  return { text: bodies.flatMap(({ text }) => text), html: bodies.flatMap(({ html }) => html) }
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
