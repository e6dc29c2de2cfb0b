import { z } from 'zod'
import { BINARY, type OperationDefinition, UPGRADE } from '../../definition/operation.ts'
import { errorCodesOf, pathsOf } from '../../operations/table.ts'
import { ERRORS } from '../../vocabulary/errors.ts'
import { type Json, member } from '../parts/components.ts'
import { page, table } from '../parts/markdown.ts'
import { permissionText } from '../parts/permission-text.ts'
import { exampleOf } from './examples.ts'
import { schemaTable } from './schema-table.ts'
import { detailText, referenceOf, typeText } from './schema-text.ts'

const parameters = z.array(
  z.object({
    name: z.string(),
    in: z.string(),
    required: z.boolean(),
    description: z.string().optional(),
    schema: z.record(z.string(), z.unknown()),
  }),
)

/** What the page of a group says about one operation. @param openapi the document of the API. */
export function operationSection(operation: OperationDefinition, openapi: Json): string {
  const described = describedOperation(operation, openapi)
  return page([
    `## \`${operation.id}\``,
    `${operation.summary}.`,
    table(
      ['Scope', 'Request'],
      pathsOf(operation).map(({ tier, path }) => [tier, `\`${operation.method} ${path}\``]),
    ),
    access(operation),
    parameterTable(described),
    bodyText(described),
    answerText(operation, described),
    errorText(operation),
    `Example:\n\n\`\`\`sh\n${exampleOf(operation)}\n\`\`\``,
  ])
}

/** The operation below its first prefix: it is the same below the others. */
function describedOperation(operation: OperationDefinition, openapi: Json): Json {
  const [{ path } = { path: '' }] = pathsOf(operation)
  return member(member(member(openapi, 'paths'), path), operation.method.toLowerCase())
}

function access(operation: OperationDefinition): string {
  if (operation.authentication === 'none') return 'Needs no API key.'
  return `Permission: ${permissionText(operation)}. Keys of: ${operation.tiers.join(', ')}.`
}

function parameterTable(described: Json): string {
  const rows = parameters
    .parse(described['parameters'])
    .map(({ name, in: place, required, description, schema }) => [
      `\`${name}\``,
      place,
      typeText(schema),
      required ? 'yes' : '',
      detailText({ ...(description !== undefined && { description }), ...schema }),
    ])
  return rows.length === 0 ? '' : table(['Parameter', 'In', 'Type', 'Required', 'Meaning'], rows)
}

function bodyText(described: Json): string {
  const body = member(described, 'requestBody')
  if (Object.keys(body).length === 0) return ''
  const schema = jsonOf(body)
  const members = schemaTable(schema)
  const kind = body['required'] === true ? 'Body (JSON)' : 'Body (JSON, may be left out)'
  if (referenceOf(schema) !== undefined) return `${kind}: ${typeText(schema)}.`
  return members === '' ? `${kind}: an object without members.` : page([`${kind}:`, members]).trimEnd()
}

function answerText(operation: OperationDefinition, described: Json): string {
  const { status, response } = operation
  if (response === undefined) return `Answer: ${status} without a body.`
  if (response === UPGRADE)
    return `Answer: ${status}, then frames of the WebSocket, which [asyncapi.yaml](asyncapi.yaml) describes.`
  if (response === BINARY) return `Answer: ${status} with the bytes.`
  const schema = jsonOf(member(member(described, 'responses'), String(status)))
  const members = schemaTable(schema)
  if (members === '') return `Answer: ${status} with ${typeText(schema)}.`
  return page([`Answer: ${status} with`, members]).trimEnd()
}

function jsonOf(holder: Json): Json {
  return member(member(member(holder, 'content'), 'application/json'), 'schema')
}

function errorText(operation: OperationDefinition): string {
  if (operation.response === UPGRADE)
    return 'Refusals: 403 for the key, 426 without an upgrade, 429 for too many streams.'
  const codes = errorCodesOf(operation)
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))]
  const words = statuses.map(
    (status) =>
      `${status} ${codes
        .filter((code) => ERRORS[code].status === status)
        .map((code) => `\`${code}\``)
        .join(', ')}`,
  )
  return `Errors: ${words.join('; ')}.`
}
