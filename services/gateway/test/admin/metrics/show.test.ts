import { COUNTED_EVENT_TYPES, USAGE_TYPES } from '@restante/contracts/vocabulary'
import { periodsOf, periodText } from '../../../src/admin/metrics/periods.ts'
import { sparkline } from '../../../src/admin/metrics/sparkline.ts'
import { EXIT } from '../../../src/admin/program.ts'
import { startGateway, type TestGateway } from '../../gateway.ts'
import { attemptOn } from '../stores.ts'

const DAY = 86_400_000

describe('the operator’s commands on metrics', () => {
  let gateway: TestGateway
  let organization: string

  beforeAll(async () => {
    gateway = await startGateway()
    organization = (await gateway.organization()).id
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    gateway.behind.queueCalls.length = 0
    gateway.behind.queueAnswers.length = 0
  })

  /** Runs `metrics` with these words. */
  const attempt = (...words: string[]) => attemptOn(gateway, ['metrics', ...words])

  /** An answer with as many points as were asked for, of which the last ones are given. */
  function answering(points: number, last: Record<string, readonly number[]> = {}) {
    const series = (name: string) => [
      ...Array.from({ length: points - (last[name]?.length ?? 0) }, () => 0),
      ...(last[name] ?? []),
    ]
    const answer = {
      events: Object.fromEntries(COUNTED_EVENT_TYPES.map((name) => [name, series(name)])),
      usage: Object.fromEntries(USAGE_TYPES.organization.map((name) => [name, series(name)])),
      rates: { bounce: series('bounce'), complaint: Array.from({ length: points }, () => null) },
    }
    gateway.behind.queueAnswers.push(answer)
    return answer
  }

  it('draw a week in bars of six hours, aligned in 80 columns', async () => {
    answering(28, {
      'message.received': [1, 2, 4, 8],
      'message.sent': [12_345_678_901],
      storage_bytes: [1_500_000, 1_900_000, 2_345_678],
      inbox_count: [3],
      bounce: [0.01, 0.0523],
    })
    const { code, printed } = await attempt('show', organization)
    const lines = printed.split('\n')
    expect(code).toBe(EXIT.done)
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d UTC, 6 h a bar$/)
    expect(lines.every((line) => line.length <= 80)).toBe(true)
    const rows = lines.filter((line) => /^[a-z]/.test(line))
    expect(new Set(rows.map((line) => line.length)).size).toBe(1)
    expect(rows).toHaveLength(COUNTED_EVENT_TYPES.length + USAGE_TYPES.organization.length + 2)
    const lineOf = (name: string) => rows.find((line) => line.startsWith(`${name} `))?.replaceAll(/ +/g, ' ')
    expect(lineOf('message.received')).toBe(`message.received ${'·'.repeat(24)}▂▃▅█ 15`)
    expect(lineOf('message.sent')).toBe(`message.sent ${'·'.repeat(27)}█ 12.3B`)
    expect(lineOf('storage_bytes')).toBe(`storage_bytes ${'·'.repeat(25)}▅▇█ 2.3 MB`)
    expect(lineOf('inbox_count')).toBe(`inbox_count ${'·'.repeat(27)}█ 3`)
    expect(lineOf('bounce')).toBe(`bounce ${'·'.repeat(26)}▂█ 5.23 %`)
    expect(lineOf('complaint')).toBe('complaint -')
    const [call] = gateway.behind.queueCalls
    expect(call).toEqual({
      path: 'show',
      body: { organization_id: organization, start: expect.any(String), end: expect.any(String), points: 28 },
    })
    expect(Date.parse(String(call?.body['end'])) - Date.parse(String(call?.body['start']))).toBe(7 * DAY)
  })

  it('print one document for scripts', async () => {
    const answer = answering(24)
    const document = JSON.parse((await attempt('show', organization, '--last', '1d', '--json')).printed)
    const { body } = gateway.behind.queueCalls[0] ?? {}
    const { points: _, ...range } = body ?? {}
    expect(document).toEqual({ ...range, period: 3_600, ...answer })
  })

  it('refuse ranges that are not kept, and organizations that do not exist, before metrics is asked', async () => {
    for (const last of ['91d', '59s', 'week', '7']) {
      const { code, said } = await attempt('show', organization, '--last', last)
      expect([code, said.includes('from 1m to 90d')]).toEqual([EXIT.misused, true])
    }
    const unknown = await attempt('show', crypto.randomUUID())
    expect(unknown).toMatchObject({ code: EXIT.refused, said: expect.stringContaining('not found') })
    expect(gateway.behind.queueCalls).toEqual([])
  })
})

describe('the periods of a picture', () => {
  it.each([
    ['1m', 60_000, '2 s', 30],
    ['90m', 5_400_000, '5 min', 18],
    ['12h', 43_200_000, '30 min', 24],
    ['7d', 7 * DAY, '6 h', 28],
    ['90d', 90 * DAY, '3 d', 30],
    ['a time that nothing divides', 7 * DAY + 1, '6 h', 29],
  ])('of %s are of a length that people think in, and end now', (_, last, text, points) => {
    const now = Date.UTC(2026, 10, 27)
    const periods = periodsOf(last, now, 34)
    expect([periodText(periods.period), periods.points, periods.to]).toEqual([text, points, now])
    expect(periods.to - periods.from).toBe(periods.points * periods.period)
  })
})

describe('a sparkline', () => {
  it('tells zero, nothing and a little apart', () => {
    expect(sparkline([0, null, 1, 50, 100])).toBe('· ▁▅█')
  })

  it('is flat where nothing changes', () => {
    expect(sparkline([7, 7, 7], 7)).toBe('▁▁▁')
    expect(sparkline([])).toBe('')
  })
})
