import { ERROR_VARIANTS, ERRORS, type ErrorDefinition, errorDocs, errorEnvelope } from '../src/vocabulary/index.ts'

const all = Object.entries<ErrorDefinition>(ERRORS)

describe.each(all)('%s', (code, { status, name, retry, message }) => {
  it('is never retried when repeating cannot help, and always left to the client when it can', () => {
    if (status >= 500 || status === 429) expect(retry).toBeUndefined()
    else expect(typeof retry).toBe('boolean')
    if (status === 401 || status === 403) expect(retry).toBe(false)
  })

  it('makes a valid envelope', () => {
    const envelope = { name, code, message, docs: `https://docs.example/errors#${code}` }
    expect(errorEnvelope.parse(envelope)).toEqual(envelope)
  })
})

it('has the message Forbidden when a permission is missing', () => {
  expect(ERRORS.missing_permission.message).toBe('Forbidden')
  expect(ERRORS.forbidden.message).toBe('Forbidden')
})

it('links each code to its entry', () => {
  expect(errorDocs('https://docs.example', 'not_found')).toBe('https://docs.example/errors#not_found')
})

it('distinguishes an idempotency key in progress, which may be retried, from one used for another request', () => {
  expect(ERROR_VARIANTS.idempotency_key_in_progress).toEqual({
    code: 'conflict',
    name: 'IdempotencyKeyConflictError',
    retry: true,
  })
  expect(ERROR_VARIANTS.idempotency_key_reused.retry).toBe(false)
})
