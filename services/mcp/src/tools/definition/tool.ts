import type { OperationId } from '@restante/contracts/operations'
import { ApiError } from '@restante/service/errors'
import { z } from 'zod'
import type { Answer } from '../../answers/answer.ts'
import { camelCase } from '../../answers/document.ts'
import type { Api } from '../../api/api.ts'
import type { BodyReader } from '../../untrusted/index.ts'
import { asArguments } from './wire.ts'

export interface Context {
  /** The API as the caller. */
  readonly api: Api
  /** Reads the bodies of messages. */
  readonly reader: BodyReader
  /** Aborted when this instance shuts down: a call that waits on purpose is then answered with what it has. */
  readonly stopping: AbortSignal
}

interface Hints {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
}

/** What a tool does to the mailbox, in the terms of MCP. */
const HINTS = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  creates: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  changes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  acts: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
} as const satisfies Record<string, Hints>

interface Definition<Input extends z.ZodObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly kind: keyof typeof HINTS
  /** Whether it brings text of strangers, or reaches them. */
  readonly openWorld: boolean
  /** Arguments, in camelCase. */
  readonly input: Input
  readonly output: z.ZodObject
  /** Operations without which it is of no use: a key that may not call all of them does not see the tool. */
  readonly needs: readonly [OperationId, ...OperationId[]]
  readonly run: (context: Context, args: z.output<Input>) => Promise<Answer>
}

/** One tool. */
export interface Tool {
  readonly name: string
  readonly needs: readonly OperationId[]
  /** As `tools/list` shows it. */
  readonly described: Readonly<Record<string, unknown>>
  /** @param given arguments as a model has written them. @throws ApiError 400 naming the argument; ApiFailure. */
  readonly call: (context: Context, given: Readonly<Record<string, unknown>>) => Promise<Answer>
}

export function defineTool<Input extends z.ZodObject>(definition: Definition<Input>): Tool {
  const { name, title, description, input, output, kind, openWorld, needs } = definition
  return {
    name,
    needs,
    described: {
      name,
      title,
      description,
      inputSchema: jsonSchema(input, 'input'),
      outputSchema: outputSchema(output),
      annotations: { title, ...HINTS[kind], openWorldHint: openWorld },
    },
    call: async (context, given) => {
      if (kind !== 'reads') refuseOthers(input, given)
      return definition.run(context, argumentsOf(input, given))
    },
  }
}

/**
 * A tool that changes something must not pass over a part of what it was asked for, such as the time of a mail.
 * @throws ApiError 400 naming an argument that the tool does not have.
 */
function refuseOthers({ shape }: z.ZodObject, given: Readonly<Record<string, unknown>>): void {
  const other = Object.keys(given).find((name) => given[name] !== null && !Object.hasOwn(shape, camelCase(name)))
  if (other === undefined) return
  throw new ApiError('validation_error', {
    message: `${other}: This tool has no such argument`,
    fix: `Leave it out. The arguments are ${Object.keys(shape).join(', ')}.`,
    errors: [{ path: [other], message: 'This tool has no such argument' }],
  })
}

function argumentsOf<Input extends z.ZodObject>(
  input: Input,
  given: Readonly<Record<string, unknown>>,
): z.output<Input> {
  const result = input.safeParse(asArguments(given))
  if (result.success) return result.data
  const errors = result.error.issues.map(({ path, message }) => ({ path: path.map(asPathPart), message }))
  const [first] = errors
  throw new ApiError('validation_error', {
    message: first === undefined ? 'The arguments are not valid' : `${first.path.join('.')}: ${first.message}`,
    fix: 'Correct the named argument and call the tool again.',
    errors,
  })
}

function asPathPart(part: PropertyKey): string | number {
  return typeof part === 'symbol' ? String(part) : part
}

/** In JSON Schema 2020-12, which is what MCP takes a schema for that names none. */
function jsonSchema(schema: z.ZodObject, io: 'input' | 'output') {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, { io })
  return rest
}

/**
 * Clients check the structured content of errors against the schema too, so it allows them: whatever a result requires, or
 * the members of an error.
 */
function outputSchema(output: z.ZodObject): Record<string, unknown> {
  const { required = [], ...schema } = jsonSchema(output, 'output')
  return { ...schema, anyOf: [{ required }, { required: ['message'] }] }
}
