import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import type { Manifest } from './rendering.ts'

const definition = z.looseObject({
  kind: z.literal('CustomResourceDefinition'),
  spec: z.looseObject({
    group: z.string(),
    names: z.looseObject({ kind: z.string() }),
    versions: z.array(
      z.looseObject({
        name: z.string(),
        served: z.boolean(),
        schema: z.object({ openAPIV3Schema: z.record(z.string(), z.unknown()) }),
      }),
    ),
  }),
})

/** Definitions of resources that are not Kubernetes' own. */
export interface Definitions {
  /** What is wrong with an object: unknown fields, wrong types, missing fields. */
  problemsOf(object: Manifest): string[]
}

/** Reads the definitions of `deploy/cluster/definitions.sh`, as their projects publish them. */
export async function readDefinitions(): Promise<Definitions> {
  const folder = path.join(process.env['RESTANTE_TOOLS'] ?? '', 'definitions')
  const schemas = new Map<string, Record<string, unknown>>()
  for (const name of await readdir(folder)) {
    for (const document of parseAllDocuments(await readFile(path.join(folder, name), 'utf8'), { merge: true })) {
      const { spec } = definition.parse(document.toJS())
      for (const { name: version, served, schema } of spec.versions)
        if (served) schemas.set(`${spec.group}/${version} ${spec.names.kind}`, strict(schema.openAPIV3Schema))
    }
  }
  return {
    problemsOf(object) {
      const { apiVersion, kind, metadata: _, ...own } = object
      const schema = schemas.get(`${apiVersion} ${kind}`)
      if (schema === undefined) return [`${apiVersion} ${kind} is not defined`]
      const result = z.fromJSONSchema(schema).safeParse(own)
      return result.success ? [] : result.error.issues.map(({ path: at, message }) => `${at.join('.')}: ${message}`)
    },
  }
}

/**
 * A schema of Kubernetes as JSON Schema. There unknown fields are cut off unless a schema keeps them; here they are
 * refused. Rules in CEL, formats and patterns (in Go's syntax) are left to the API server (`npm run test:cluster -- --api-only`).
 */
function strict(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (schema['x-kubernetes-int-or-string'] === true) return { anyOf: [{ type: 'integer' }, { type: 'string' }] }
  if (schema['x-kubernetes-preserve-unknown-fields'] === true && schema['properties'] === undefined) return {}
  const own: Record<string, unknown> = {}
  for (const key of KEPT) if (key in schema) own[key] = schema[key]
  if (isObject(schema['properties'])) {
    own['properties'] = Object.fromEntries(
      Object.entries(schema['properties']).map(([name, value]) => [name, isObject(value) ? strict(value) : value]),
    )
    if (schema['x-kubernetes-preserve-unknown-fields'] !== true) own['additionalProperties'] = false
  }
  if (isObject(schema['items'])) own['items'] = strict(schema['items'])
  if (isObject(schema['additionalProperties'])) own['additionalProperties'] = strict(schema['additionalProperties'])
  return own
}

const KEPT = ['type', 'enum', 'required', 'minimum', 'maximum', 'minItems', 'maxItems', 'minLength', 'maxLength']

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
