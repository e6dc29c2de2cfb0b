import { EXIT, execute } from '../../../src/admin/program.ts'
import { startGateway, type TestGateway } from '../../gateway.ts'
import { storesOf } from '../stores.ts'

const READING = {
  state: 'reading',
  operator: 'tester',
  started_at: '2026-11-22T01:46:01.654Z',
  from: '2026-11-15T00:00:00.000Z',
  read: 500,
  total: 2_000,
}
const SWITCHED = { ...READING, state: 'switched', read: 2_000, ended_at: '2026-11-22T01:47:00.000Z' }

describe('the operator’s commands that correct metrics', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    gateway.behind.queueCalls.length = 0
    gateway.behind.queueAnswers.length = 0
  })

  /** Runs `metrics` with these words. */
  async function attempt(...words: string[]) {
    const [printed, said]: [string[], string[]] = [[], []]
    const console = {
      ...storesOf(gateway),
      print: (line: string) => printed.push(line),
      say: (line: string) => said.push(line),
      ask: async () => undefined,
    }
    const code = await execute(console, ['metrics', ...words])
    return { code, printed: printed.join('\n'), said: said.join('\n') }
  }
  const answering = (...answers: Record<string, unknown>[]) => gateway.behind.queueAnswers.push(...answers)

  it('rebuild shows progress while it reads, and says from when on everything is counted again', async () => {
    answering({ rebuild: READING, started: true }, { rebuild: SWITCHED })
    const { code, printed, said } = await attempt('rebuild')
    expect({ code, said }).toEqual({ code: EXIT.done, said: '500 of 2000 records read (25 %) ...' })
    expect(printed).toBe('Switched over: everything since 2026-11-15 00:00 is counted again.')
    expect(gateway.behind.queueCalls.map(({ body }) => body)).toEqual([{ operator: 'tester' }, {}])
  })

  it('rebuild names no share of the records before it is known how many there are', async () => {
    const unplanned = { ...READING, read: 0, total: 0 }
    answering({ rebuild: unplanned, started: true }, { rebuild: unplanned }, { rebuild: { ...READING, read: 0 } })
    const reason = 'interrupted'
    answering({ rebuild: { ...READING, state: 'failed', reason } })
    expect((await attempt('rebuild')).said.split('\n')).toEqual([
      'looking for the records to read ...',
      '0 of 2000 records read (0 %) ...',
      'The rebuild failed: interrupted.',
    ])
    answering({ rebuild: { ...unplanned, state: 'failed', reason } })
    expect((await attempt('rebuild', '--status')).printed).toMatch(/records read +none/)
  })

  it('rebuild says why one failed', async () => {
    const reason = 'events were deleted by retention before they were read: start again'
    answering({ rebuild: { ...READING, state: 'failed', reason }, started: true })
    expect(await attempt('rebuild')).toMatchObject({ code: EXIT.refused, said: `The rebuild failed: ${reason}.` })
  })

  it('rebuild --status shows the last one, and starts none', async () => {
    answering({ rebuild: SWITCHED }, { rebuild: SWITCHED }, {})
    expect((await attempt('rebuild', '--status')).printed).toMatch(/records read +2000 of 2000/)
    expect(JSON.parse((await attempt('rebuild', '--status', '--json')).printed)).toEqual(SWITCHED)
    expect((await attempt('rebuild', '--status')).code).toBe(EXIT.refused)
    expect(new Set(gateway.behind.queueCalls.map(({ path }) => path))).toEqual(new Set(['get-rebuild']))
  })

  it('compare says whether it has started', async () => {
    answering({ started: true }, { started: false })
    expect((await attempt('compare')).printed).toMatch(/^Started/)
    expect((await attempt('compare')).printed).toMatch(/^Running already/)
  })
})
