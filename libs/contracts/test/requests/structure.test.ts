import { internalOperations } from '../../src/internal/index.ts'
import { type OperationDefinition, operations } from '../../src/operations/index.ts'
import { subscribeFrame, unsubscribeFrame } from '../../src/schemas/index.ts'
import { bodyBound, type Structure, structureOf } from '../../src/validation/index.ts'

const bodies = Object.values<OperationDefinition>(operations).flatMap(({ id, body }) =>
  body === undefined ? [] : [{ id, body }],
)
const sent = [
  ...bodies,
  ...Object.values(internalOperations).map(({ id, body }) => ({ id, body })),
  { id: 'subscribe', body: subscribeFrame },
  { id: 'unsubscribe', body: unsubscribeFrame },
]

/** The lists and maps of a structure, each with its place. */
function partsOf(structure: Structure, at: string): { at: string; most: number }[] {
  switch (structure.kind) {
    case 'value':
      return []
    case 'map':
      return [{ at, most: structure.most }]
    case 'list':
      return [{ at, most: structure.most }, ...partsOf(structure.element, `${at}[]`)]
    case 'variants':
      return [...partsOf(structure.present, `${at}+`), ...partsOf(structure.absent, at)]
    case 'object':
      return [...structure.members].flatMap(([name, member]) => partsOf(member.structure, `${at}.${name}`))
  }
}

describe('everything that is sent', () => {
  it.each(sent)('bounds each list and map of $id', ({ body }) => {
    expect(partsOf(structureOf(body), 'body').filter(({ most }) => !Number.isSafeInteger(most))).toEqual([])
  })
})

it('finds the lists and maps of the operations, those inside lists and variants too', () => {
  const found = (id: 'messages.send' | 'apiKeys.create') =>
    partsOf(structureOf(operations[id].body), 'body').map(({ at, most }) => `${at} ${most}`)
  expect(found('messages.send')).toEqual([
    'body.to 50',
    'body.cc 50',
    'body.bcc 50',
    'body.reply_to 50',
    'body.labels 256',
    'body.attachments 256',
    'body.headers 100',
  ])
  expect(found('apiKeys.create')).toEqual(['body+.permissions 256', 'body.permissions 256'])
})

it('bounds a body by the sum of its parts, with room for members that are unknown', () => {
  const members = 11
  const lists = 4 * 50 + 256 + 256 * (1 + 9) + 100
  expect(bodyBound(operations['messages.send'].body)).toEqual({ parts: members + lists + 5_000, depth: 64 })
})
