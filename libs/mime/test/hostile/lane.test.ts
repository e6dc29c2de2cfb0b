import { ParserCrashedError, ParserUnavailableError } from '../../src/index.ts'
import { ParserTimeoutError } from '../../src/worker/errors.ts'
import { Lane } from '../../src/worker/lane.ts'

function laneOf(file: URL, standing = true): Lane<object, string, string> {
  return new Lane({
    file,
    received: (read: string) => read,
    threads: 1,
    standing,
    memoryMb: 64,
    idleMs: 1_000,
    limits: {},
    deadlineMs: () => 60_000,
    overdue: (ms) => new ParserTimeoutError(ms),
  })
}

describe('a thread', () => {
  it('that needs more memory than it may have dies, and the next mail is read', async () => {
    const lane = laneOf(new URL('./hungry-thread.ts', import.meta.url))
    const [first, second] = [lane.read(Buffer.from('hungry')), lane.read(Buffer.from('plain'))]
    await expect(first).rejects.toThrow(ParserCrashedError)
    await expect(second).resolves.toBe('plain')
    await lane.close()
  })

  it.each([
    ['kept ready', true],
    ['started with the first mail', false],
  ])('that cannot start is no defect of the mail, when it is %s', async (_, standing) => {
    const lane = laneOf(new URL('data:text/javascript,throw new Error("no parser")'), standing)
    for (const mail of ['first', 'second']) {
      await expect(lane.read(Buffer.from(mail))).rejects.toThrow(ParserUnavailableError)
    }
    await lane.close()
  })
})
