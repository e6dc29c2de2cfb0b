import type { OperationDefinition } from '@restante/contracts/operations'
import { type Structure, structureOf } from '@restante/contracts/validation'
import { byLength } from '../../src/testing.ts'

/** A body at its size limit, and what is hostile about it. */
export interface HostileBody {
  readonly what: string
  make(): Buffer
}

/** The worst elements and members: as small as possible, of the wrong type, or with structure of their own. */
const TINY = ['""', '0', 'null', '{}', '[]', '"x"', '[[[[]]]]', '{"":{}}']
const TINY_MEMBERS = ['""', '0', 'null', '{}', 'true']

/** What a long text consists of; each is the slowest case for some validation of texts. */
const TEXTS = {
  letters: 'a',
  'line breaks': 'A\\n',
  equals: '=',
  blanks: ' ',
  pictures: '\u{1f600}',
  escapes: '\\u0041',
  dots: '.',
  quotes: '\\"',
  addresses: 'a@b.c,',
}

/**
 * Bodies above this size get a part of the texts for each value: together, their values cover all of them. In the short
 * form all bodies do.
 */
const LARGE = byLength({ short: 0, long: 2 * 1024 * 1024 })
const TEXTS_OF_LARGE = 3

type Wrap = (inner: string) => string
const inRoot: Wrap = (members) => `{${members}}`

/** Makes the hostile bodies of operations; bodies that several operations share are made once. */
export class HostileBodies {
  readonly #seen = new Set<unknown>()
  #values = 0

  /** Bodies at the size limit of an operation, for each list, each map and each value of its schema. */
  of({ body, bodyLimit: { bytes } }: OperationDefinition): HostileBody[] {
    if (body === undefined) return []
    const ofSchema = this.#ofStructure(structureOf(body), 'body', (inner) => inner, bytes)
    return this.#isNew(bytes) ? [...ofSchema, ...unknownParts(bytes)] : ofSchema
  }

  #isNew(shared: unknown): boolean {
    return this.#seen.size < this.#seen.add(shared).size
  }

  #ofStructure(structure: Structure, at: string, wrap: Wrap, bytes: number): HostileBody[] {
    if (structure.kind !== 'value' && !this.#isNew(structure)) return []
    switch (structure.kind) {
      case 'value':
        return this.#texts(at, wrap, bytes)
      case 'list':
        return [
          ...TINY.map((element) =>
            repeated(`${at}: list of ${element}`, (inner) => wrap(`[${inner}]`), bytes, element),
          ),
          ...this.#ofStructure(structure.element, `${at}[]`, (inner) => wrap(`[${inner}]`), bytes),
          ...(structure.element.kind === 'value' ? this.#texts(at, wrap, bytes) : []),
          ...full(structure.element, structure.most, at, wrap, bytes),
        ]
      case 'map':
        return [
          ...TINY_MEMBERS.map((value) =>
            members(`${at}: map to ${value}`, (inner) => wrap(`{${inner}}`), bytes, value),
          ),
          { what: `${at}: long key`, make: () => fill((inner) => wrap(`{"${inner}":""}`), bytes, 'k') },
          ...this.#texts(`${at}.*`, (inner) => wrap(`{"X-Name":${inner}}`), bytes),
        ]
      case 'variants':
        return [
          ...this.#ofStructure(structure.present, `${at} with ${structure.member}`, wrap, bytes),
          ...this.#ofStructure(structure.absent, at, wrap, bytes),
        ]
      case 'object':
        return [...structure.members].flatMap(([name, member]) =>
          this.#isNew(member.schema)
            ? this.#ofStructure(member.structure, `${at}.${name}`, (inner) => wrap(`{"${name}":${inner}}`), bytes)
            : [],
        )
    }
  }

  #texts(at: string, wrap: Wrap, bytes: number): HostileBody[] {
    const texts = Object.entries(TEXTS)
    const start = (this.#values++ * TEXTS_OF_LARGE) % texts.length
    const chosen = bytes < LARGE ? texts : texts.slice(start, start + TEXTS_OF_LARGE)
    return chosen.map(([kind, text]) => ({
      what: `${at}: ${kind}`,
      make: () => fill((inner) => wrap(`"${inner}"`), bytes, text),
    }))
  }
}

/** Members that no schema declares. */
function unknownParts(bytes: number): HostileBody[] {
  return [
    ...TINY.map((element) =>
      repeated(`unknown list of ${element}`, (inner) => inRoot(`"x":[${inner}]`), bytes, element),
    ),
    members('unknown members', inRoot, bytes, '0'),
    { what: 'lists inside lists', make: () => fill((inner) => inRoot(`"x":${inner}`), bytes, '[', ']') },
    { what: 'objects inside objects', make: () => fill((inner) => inRoot(`"x":${inner}`), bytes, '{"":', '}') },
    { what: 'blanks', make: () => fill(inRoot, bytes, ' ') },
    { what: 'a string that never ends', make: () => fill((inner) => `{"${inner}`, bytes, '\\"') },
  ]
}

/** A list with as many elements as it accepts, each as large as the body limit allows. */
function full(element: Structure, most: number, at: string, wrap: Wrap, bytes: number): HostileBody[] {
  const of = (one: string): HostileBody => ({
    what: `${at}: ${most} elements like ${one.slice(0, 30)}`,
    make: () => Buffer.from(wrap(`[${Array.from({ length: most }, () => one).join(',')}]`)),
  })
  const length = 4 * Math.floor((bytes / most - 100) / 4)
  if (element.kind === 'value') return [of(`"${'a'.repeat(length)}"`)]
  return [of(`{"content":"${'A'.repeat(length)}"}`), of(`{"content":5,"url":5,"filename":5,"content_type":5}`)]
}

/** As many elements as fit. */
function repeated(what: string, wrap: Wrap, bytes: number, element: string): HostileBody {
  return { what, make: () => fill((inner) => wrap(`${inner}${element}`), bytes, `${element},`) }
}

/** As many members as fit, each with a different name. */
function members(what: string, wrap: Wrap, bytes: number, value: string): HostileBody {
  return {
    what,
    make: () => {
      const parts: string[] = []
      let room = bytes - wrap('').length
      for (let index = 0; ; index++) {
        const next = `"k${index}":${value}`
        room -= next.length + 1
        if (room < 0) return Buffer.from(wrap(parts.join(',')))
        parts.push(next)
      }
    },
  }
}

/** A text, or an opening with its closing, repeated as often as it fits. */
function fill(wrap: Wrap, bytes: number, text: string, closing = ''): Buffer {
  const times = Math.floor((bytes - Buffer.byteLength(wrap(''))) / Buffer.byteLength(text + closing))
  return Buffer.from(wrap(text.repeat(times) + closing.repeat(times)))
}
