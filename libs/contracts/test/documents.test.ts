import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { z } from 'zod'
import { topics } from '../src/events/index.ts'
import { documents } from '../src/generate/documents.ts'
import { type OperationDefinition, operations, pathParameters, pathsOf } from '../src/operations/index.ts'

const generated = documents()

const operationObject = z.object({
  operationId: z.string(),
  summary: z.string().min(1),
  tags: z.array(z.string()).length(1),
  parameters: z.array(
    z.object({
      name: z.string(),
      in: z.enum(['path', 'query', 'header']),
      required: z.boolean(),
      schema: z.record(z.string(), z.unknown()),
    }),
  ),
  responses: z.record(z.string(), z.object({ description: z.string().min(1) })),
})

const openapiDocument = z.object({
  openapi: z.literal('3.1.0'),
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(z.string(), z.partialRecord(z.enum(['get', 'post', 'patch', 'delete']), operationObject)),
  components: z.object({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
})

const openapi = openapiDocument.parse(JSON.parse(generated['api/openapi.json'] ?? ''))

function references(text: string): string[] {
  return [...new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? ''))]
}

/** What a local reference points at. */
function resolve(document: unknown, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, name) => z.record(z.string(), z.unknown()).safeParse(at).data?.[name], document)
}

it.each(Object.keys(generated))('docs/%s matches the code; "npm run generate:docs" updates it', async (name) => {
  expect(await readFile(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')).toBe(generated[name])
})

it('generates the same bytes again', () => {
  expect(documents()).toEqual(generated)
})

describe('openapi.json', () => {
  it('contains every operation below each of its prefixes, and nothing else', () => {
    const expected = Object.values<OperationDefinition>(operations).flatMap((operation) =>
      pathsOf(operation).map(({ path }) => `${operation.method.toLowerCase()} ${path}`),
    )
    const found = Object.entries(openapi.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    )
    expect(found.sort()).toEqual(expected.sort())
  })

  it('gives each operation an id of its own, a known tag and its path parameters', () => {
    const ids = new Set<string>()
    const tags = openapi.tags.map(({ name }) => name)
    for (const [path, item] of Object.entries(openapi.paths)) {
      for (const operation of Object.values(item)) {
        if (operation === undefined) continue
        expect(ids).not.toContain(operation.operationId)
        ids.add(operation.operationId)
        expect(tags).toContain(operation.tags[0])
        const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
        expect(inPath.map(({ name }) => name)).toEqual(pathParameters(path))
        expect(inPath.every(({ required }) => required)).toBe(true)
      }
    }
  })

  it('refers only to schemas that it contains, and leaves none unused', () => {
    const names = references(JSON.stringify(JSON.parse(generated['api/openapi.json'] ?? '')))
    for (const reference of names) expect(resolve(openapi, reference)).toBeDefined()
    const used = names.map((reference) => reference.split('/').at(-1))
    expect(Object.keys(openapi.components.schemas).filter((name) => !used.includes(name))).toEqual([])
  })

  it('forbids no members that a later version may add', () => {
    expect(generated['api/openapi.json']).not.toContain('"additionalProperties": false')
  })
})

describe('asyncapi.yaml', () => {
  const document: unknown = parse(generated['api/asyncapi.yaml'] ?? '')
  const asyncapi = z
    .object({
      asyncapi: z.literal('3.0.0'),
      channels: z.record(z.string(), z.object({ messages: z.record(z.string(), z.unknown()) })),
      operations: z.record(
        z.string(),
        z.object({ action: z.enum(['send', 'receive']), channel: z.object({ $ref: z.string() }) }),
      ),
    })
    .parse(document)

  it('contains a channel per topic with all of its events, the stream and the webhook', () => {
    expect(Object.keys(asyncapi.channels)).toEqual([...Object.keys(topics), 'stream', 'webhook'])
    for (const [name, topic] of Object.entries(topics)) {
      expect(Object.keys(asyncapi.channels[name]?.messages ?? {})).toEqual(Object.keys(topic.events))
    }
  })

  it('refers only to schemas that it contains', () => {
    for (const reference of references(JSON.stringify(document))) expect(resolve(document, reference)).toBeDefined()
  })
})
