import type { IncomingMessage, ServerResponse } from 'node:http'
import { type FieldError, type RequestContract, validate } from '@restante/contracts'
import express from 'express'
import type { z } from 'zod'
import { ApiError } from './api-error.ts'

/** The infrastructure form of 413: only a `message`, as clients of inline mail bodies expect (interface, errors). */
export class RequestTooLarge extends Error {
  override readonly name = 'RequestTooLarge'
  override readonly message = 'Request Too Long'
}

const readers = new Map<number, ReturnType<typeof express.raw>>()

function readerFor(limit: number): ReturnType<typeof express.raw> {
  const known = readers.get(limit)
  if (known) return known
  const reader = express.raw({ type: () => true, limit })
  readers.set(limit, reader)
  return reader
}

/** Reads a body of at most the operation's limit into memory. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: RequestContract['bodyLimit'],
): Promise<Buffer> {
  const failure = await new Promise<unknown>((resolve) => {
    readerFor(limit.bytes)(request, response, resolve)
  })
  if (failure instanceof Error) throw bodyFailure(failure, limit)
  const body: unknown = 'body' in request ? request.body : undefined
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

function bodyFailure(failure: Error, limit: RequestContract['bodyLimit']): Error {
  const kind = 'type' in failure ? failure.type : undefined
  return kind === 'entity.too.large' ? bodyTooLarge(limit) : syntaxError('The body could not be read', failure)
}

/** The refusal of a body above its operation's limit, in the form that the operation declares. */
export function bodyTooLarge(limit: RequestContract['bodyLimit']): Error {
  if (limit.answer === 'infrastructure') return new RequestTooLarge()
  return new ApiError('payload_too_large', { fix: `Send at most ${limit.bytes} bytes.` })
}

function syntaxError(message: string, cause?: unknown): ApiError {
  return new ApiError('validation_error', { name: 'SyntaxError', message, errors: [{ path: [], message }], cause })
}

/** A JSON object out of a body; an absent body is `{}` and the schema decides whether that is enough. */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0) return {}
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw syntaxError('The body is not valid JSON', cause)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw syntaxError('The body must be a JSON object')
}

/** Checks one part of a request; its problems are added to the others, so that a caller sees all of them at once. */
export function check<S extends z.ZodType>(schema: S, value: unknown, problems: FieldError[]): z.output<S> | undefined {
  const result = validate(schema, value)
  if (result.ok) return result.value
  problems.push(...result.errors)
  return undefined
}
