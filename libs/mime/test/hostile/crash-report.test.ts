import { inspect } from 'node:util'
import { ParserTimeoutError } from '../../src/worker/errors.ts'
import { Lane } from '../../src/worker/lane.ts'

describe('the error of a thread that died', () => {
  it('tells the kind of failure and where it was, and nothing of what was read', async () => {
    const lane = new Lane({
      file: new URL('./quoting-thread.ts', import.meta.url),
      received: (read: unknown) => read,
      threads: 1,
      standing: false,
      memoryMb: 64,
      idleMs: 1_000,
      limits: {},
      deadlineMs: () => 5_000,
      overdue: (ms) => new ParserTimeoutError(ms),
    })
    const error = await lane.read(Buffer.from('a private word')).catch((thrown: unknown) => thrown)
    await lane.close()
    expect(inspect(error, { depth: 9 })).not.toContain('private')
    expect(error).toMatchObject({
      name: 'ParserCrashedError',
      cause: { message: expect.stringContaining('RangeError') },
    })
    expect(inspect(error)).toContain('quoting-thread.ts')
  })
})
