import { z } from 'zod'

/** The part of JSON Schema that the API document uses. */
export interface Schema {
  readonly $ref?: string | undefined
  readonly type?: string | readonly string[] | undefined
  readonly enum?: readonly unknown[] | undefined
  readonly format?: string | undefined
  readonly anyOf?: readonly Schema[] | undefined
  readonly properties?: Readonly<Record<string, Schema>> | undefined
  readonly required?: readonly string[] | undefined
  readonly items?: Schema | undefined
  readonly additionalProperties?: Schema | undefined
  readonly not?: unknown
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    format: z.string().optional(),
    anyOf: z.array(schema).optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
    items: schema.optional(),
    additionalProperties: schema.optional(),
    not: z.unknown().optional(),
  }),
)

const operation = z.object({
  operationId: z.string(),
  parameters: z.array(z.object({ name: z.string(), in: z.enum(['path', 'query', 'header']), schema })).default([]),
  requestBody: z.object({ content: z.object({ 'application/json': z.object({ schema }) }) }).optional(),
})

const apiDocument = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), schema) }),
})

/** One method of one path in the document. */
export interface Route {
  /** The operation of the contract, which is the same under every prefix. */
  readonly operationId: string
  readonly method: string
  /** The path, with its parameters in braces. */
  readonly template: string
  readonly query: Readonly<Record<string, Schema>>
  readonly takesIdempotencyKey: boolean
  readonly body: Schema | undefined
}

/** The routes in the API document of the running system. */
export interface ApiDocument {
  readonly routes: readonly Route[]
  /** Resolves a reference to a schema. */
  resolve(schema: Schema): Schema
}

export async function readApiDocument(gatewayUrl: string): Promise<ApiDocument> {
  const response = await fetch(`${gatewayUrl}/openapi.json`)
  const { paths, components } = apiDocument.parse(await response.json())
  const routes = Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, given]): Route => {
      const inQuery = given.parameters.filter((parameter) => parameter.in === 'query')
      return {
        operationId: given.operationId.split('.').slice(0, 2).join('.'),
        method: method.toUpperCase(),
        template,
        query: Object.fromEntries(inQuery.map((parameter) => [parameter.name, parameter.schema])),
        takesIdempotencyKey: given.parameters.some(({ name }) => name === 'Idempotency-Key'),
        body: given.requestBody?.content['application/json'].schema,
      }
    }),
  )
  return {
    routes,
    resolve({ $ref, ...own }) {
      return $ref === undefined ? own : (components.schemas[$ref.split('/').at(-1) ?? ''] ?? {})
    },
  }
}
