import { ApiError } from '@restante/service/errors'
import { Agent } from 'undici'
import { z } from 'zod'
import { plain } from '../../src/answers/answer.ts'
import { Api } from '../../src/api/api.ts'
import { paging } from '../../src/tools/definition/inputs.ts'
import { type Context, defineTool } from '../../src/tools/definition/tool.ts'
import { createBodyThreads } from '../../src/untrusted/index.ts'

/** Of an API that no test here calls. */
const api = new Api({
  dispatcher: new Agent(),
  url: 'http://127.0.0.1:9',
  authorization: '',
  client: '',
  requestId: 'test',
  signal: new AbortController().signal,
  count: () => undefined,
})
const threads = createBodyThreads()
const reader = threads.readerOf('organization')
const context: Context = { api, reader, stopping: new AbortController().signal }
afterAll(() => threads.close())

const tool = defineTool({
  name: 'try_arguments',
  title: 'Try Arguments',
  description: 'Answers what it was given.',
  kind: 'reads',
  openWorld: false,
  input: z.object({
    inboxId: z.string().min(1),
    ...paging,
    to: z.array(z.string()).optional(),
    metadata: z.record(z.string(), z.union([z.string(), z.null()])).optional(),
    attachments: z.array(z.object({ contentType: z.string().optional(), url: z.string() })).optional(),
  }),
  output: z.looseObject({ inboxId: z.string(), limit: z.number() }),
  needs: ['inboxes.list'],
  run: async (_context, args) => plain('', args),
})
const given = async (args: Record<string, unknown>) => (await tool.call(context, args)).structured

async function refusalOf(args: Record<string, unknown>): Promise<ApiError> {
  const error: unknown = await tool.call(context, args).catch((refused: unknown) => refused)
  if (!(error instanceof ApiError)) throw new Error('the arguments were taken')
  return error
}

describe('arguments of a tool', () => {
  it('are taken in camelCase and in snake_case, and limit is 10 without one', async () => {
    const expected = { inboxId: 'a@b.test', limit: 10, pageToken: 't' }
    expect(await given({ inboxId: 'a@b.test', pageToken: 't' })).toEqual(expected)
    expect(await given({ inbox_id: 'a@b.test', page_token: 't' })).toEqual(expected)
  })

  it('that are null are absent, so that defaults apply', async () => {
    const args = {
      inboxId: 'a',
      limit: null,
      pageToken: null,
      to: null,
      attachments: [{ content_type: null, url: 'u' }],
    }
    expect(await given(args)).toEqual({ inboxId: 'a', limit: 10, attachments: [{ url: 'u' }] })
  })

  it('that the tool does not have are left out', async () => {
    expect(await given({ inboxId: 'a', unknown: 1 })).toEqual({ inboxId: 'a', limit: 10 })
  })

  it.each([
    ['inboxId', {}],
    ['inboxId', { inboxId: null }],
    ['inboxId', { inboxId: 7 }],
    ['limit', { inboxId: 'a', limit: '10' }],
    ['limit', { inboxId: 'a', limit: 0 }],
    ['to.0', { inboxId: 'a', to: [7] }],
    ['to', { inboxId: 'a', to: 'x@y.test' }],
    ['attachments.1.url', { inboxId: 'a', attachments: [{ url: 'u' }, { content_type: 'text/plain' }] }],
  ])('that are wrong are refused by the name %s: %j', async (name, args) => {
    const error = await refusalOf(args)
    const body = error.body('http://docs.test')
    expect(body).toMatchObject({ code: 'validation_error', errors: [{ path: name.split('.').map(part) }] })
    expect(error.message).toMatch(new RegExp(`^${name.replaceAll('.', '\\.')}: .`))
    expect(body.fix).toContain('call the tool again')
  })

  it('all of which are wrong are all named', async () => {
    const { errors } = (await refusalOf({ limit: 'x', to: 7 })).body('http://docs.test')
    expect(errors).toMatchObject([{ path: ['inboxId'] }, { path: ['limit'] }, { path: ['to'] }])
  })
})

describe('the description of a tool', () => {
  it('has JSON Schema for arguments and answers, in which errors are answers too', () => {
    const { described } = tool
    expect(described).toMatchObject({
      name: 'try_arguments',
      inputSchema: { type: 'object', required: ['inboxId'] },
      annotations: {
        title: 'Try Arguments',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      outputSchema: { type: 'object', anyOf: [{ required: ['inboxId', 'limit'] }, { required: ['message'] }] },
    })
    expect(JSON.stringify(described)).not.toContain('"$schema"')
    expect(JSON.stringify(described['outputSchema'])).not.toContain('"additionalProperties":false')
  })
})

function part(name: string): string | number {
  return /^\d+$/.test(name) ? Number(name) : name
}
