import type { z } from 'zod'
import { BINARY, type OperationDefinition, UPGRADE } from '../definition/operation.ts'
import { publicEvent } from '../events/public-events.ts'
import { OPERATION_GROUPS } from '../operations/groups.ts'
import { errorCodesOf, operations, pathParameters, pathsOf } from '../operations/table.ts'
import { ERRORS, errorEnvelope, infrastructureError } from '../vocabulary/errors.ts'
import { IDEMPOTENCY_KEYS, type IdempotencyKeyRule } from '../vocabulary/ids.ts'
import type { Tier } from '../vocabulary/tiers.ts'
import { VERSION } from '../vocabulary/version.ts'
import { Components, type Json, member, strings } from './parts/components.ts'

const PREFIX_PARAMETER: Readonly<Record<string, string>> = {
  pod_id: 'Id or client_id of the pod.',
  inbox_id: 'Address or client_id of the inbox.',
}

const SECURITY =
  'An API key; it starts with `am_`. Or, in place of the header, a signature with a registered public key (RFC 9421): `sig1`, ecdsa-p256-sha256, over `@method`, `@target-uri` and, where there is a body, `content-digest`.'

/** The OpenAPI 3.1 document of the public API. */
export function openapi(): Json {
  const components = new Components()
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of Object.values<OperationDefinition>(operations)) {
    for (const { tier, path } of pathsOf(operation)) {
      const item = paths[path] ?? {}
      item[operation.method.toLowerCase()] = operationObject(operation, tier, path, components)
      paths[path] = item
    }
  }
  const event = components.convert(publicEvent, 'output')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Restante',
      version: VERSION,
      description: 'Real e-mail inboxes for software agents. Branch on the `code` of an error, never on its text.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:3000', description: 'Local stack' }],
    security: [{ apiKey: [] }],
    tags: OPERATION_GROUPS.map(({ name, summary }) => ({ name, description: summary })),
    paths,
    webhooks: {
      event: {
        post: {
          summary: 'One event, signed (svix-id, svix-timestamp, svix-signature). Any 2xx within 15 s acknowledges it.',
          requestBody: { content: { 'application/json': { schema: event } } },
          responses: { '2XX': { description: 'Acknowledged' } },
        },
      },
    },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: SECURITY } },
      schemas: components.all(),
    },
  }
}

function operationObject(operation: OperationDefinition, tier: Tier, path: string, components: Components): Json {
  const { authentication, permission, signedPermission, alsoNeeds, tiers } = operation
  return {
    operationId: tier === operation.prefixes[0] ? operation.id : `${operation.id}.${tier}`,
    tags: [operation.id.split('.')[0]],
    summary: operation.summary,
    ...(authentication === 'none' ? { security: [] } : {}),
    ...(authentication === 'key' ? { 'x-permission': permission, 'x-tiers': tiers } : {}),
    ...(signedPermission === undefined ? {} : { 'x-signed-permission': signedPermission }),
    ...(alsoNeeds === undefined ? {} : { 'x-also-needs': alsoNeeds }),
    parameters: parameters(operation, path, components),
    ...requestBody(operation.body, components),
    responses: { [operation.status]: success(operation, components), ...errors(operation, components) },
  }
}

function parameters(operation: OperationDefinition, path: string, components: Components): Json[] {
  const own = member(components.convert(operation.params, 'input'), 'properties')
  const inPath = pathParameters(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    ...(PREFIX_PARAMETER[name] === undefined ? {} : { description: PREFIX_PARAMETER[name] }),
    schema: Object.hasOwn(own, name) ? own[name] : { type: 'string' },
  }))
  const query = components.convert(operation.query, 'input')
  const required = strings(query, 'required')
  const properties = member(query, 'properties')
  const inQuery = Object.keys(properties).map((name) => {
    const { description, ...schema } = member(properties, name)
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema,
    }
  })
  return [...inPath, ...inQuery, ...headers(operation)]
}

function headers({ idempotencyKey, etag }: OperationDefinition): Json[] {
  return [...(idempotencyKey ? [idempotencyKeyHeader(idempotencyKey)] : []), ...(etag === 'checked' ? [IF_MATCH] : [])]
}

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The change is made only while the resource has this ETag (RFC 9110 13.1.1); `*`: while it exists.',
  schema: { type: 'string' },
}

function idempotencyKeyHeader(rule: IdempotencyKeyRule): Json {
  const { pattern, kept } = IDEMPOTENCY_KEYS[rule]
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: `Repeating the request with the same key has one effect and one answer, ${kept}.`,
    schema: { type: 'string', pattern: pattern.source },
  }
}

function requestBody(body: z.ZodType | undefined, components: Components): Json {
  if (body === undefined) return {}
  const required = !body.safeParse({}).success
  return { requestBody: { required, content: { 'application/json': { schema: components.convert(body, 'body') } } } }
}

function success(operation: OperationDefinition, components: Components): Json {
  if (operation.response === undefined) return { description: 'Done' }
  if (operation.response === UPGRADE) return { description: 'Switched to WebSocket; see asyncapi.yaml for the frames' }
  if (operation.response === BINARY) {
    return { description: 'The bytes', content: { '*/*': { schema: { type: 'string', format: 'binary' } } } }
  }
  return {
    description: 'Success',
    content: { 'application/json': { schema: components.convert(operation.response, 'output') } },
  }
}

/** One response per status; its description names the codes that a caller can branch on. */
function errors(operation: OperationDefinition, components: Components): Json {
  if (operation.response === UPGRADE) return upgradeErrors(components)
  const codes = errorCodesOf(operation)
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))]
  const envelope = { 'application/json': { schema: components.convert(errorEnvelope, 'output') } }
  const responses = statuses.map((status) => {
    const own = codes.filter((code) => ERRORS[code].status === status)
    return [status, { description: own.map((code) => `\`${code}\``).join(', '), content: envelope }] as const
  })
  const bare =
    operation.bodyLimit.answer === 'infrastructure'
      ? [[413, infrastructure(components, 'Body over 6 MB')] as const]
      : []
  return Object.fromEntries([...responses, ...bare])
}

function upgradeErrors(components: Components): Json {
  return {
    403: infrastructure(components, 'Missing, unknown, expired or provisional key'),
    426: infrastructure(components, 'Not a WebSocket upgrade'),
    429: infrastructure(components, 'Too many connections; see Retry-After'),
  }
}

function infrastructure(components: Components, description: string): Json {
  return { description, content: { 'application/json': { schema: components.convert(infrastructureError, 'output') } } }
}
