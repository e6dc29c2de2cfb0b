import { ago, ahead, at, effect, never, Stack, signal, until } from './stack.ts'

describe('a timer', () => {
  const stack = new Stack()
  const once = { concurrency: 1, attemptMs: 60_000, retry: never }

  beforeAll(() => stack.start())
  afterEach(() => stack.clear())
  afterAll(() => stack.stop())

  it('runs in the order in which timers are due', async () => {
    const timers = stack.timers()
    timers.work('note', once, async ({ timer, run }) => void (await run((tx) => effect(tx, timer.key))))
    const base = ago(10_000).getTime()
    await stack.db.transaction((tx) =>
      timers.scheduleAll(
        tx,
        ['c', 'a', 'd', 'b'].map((key) => ({
          kind: 'note' as const,
          key,
          dueAt: new Date(base + key.charCodeAt(0)),
          payload: { text: key },
        })),
      ),
    )
    await timers.start()
    await until(async () => (await stack.effects()).length === 4)
    expect((await stack.effects()).map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd'])
    expect(await stack.rows()).toEqual([])
  })

  it('can be made due earlier, and keeps the attempts that it had', async () => {
    const timers = stack.timers()
    const attempts: string[] = []
    timers.work('note', { ...once, retry: () => ahead(3_600_000) }, async ({ timer, run }) => {
      attempts.push(`${timer.key} ${timer.attempt}`)
      if (timer.attempt === 1) throw new Error('not yet')
      await run((tx) => effect(tx, timer.key))
    })
    await at(stack.db, timers, 'tried')
    await timers.start()
    await until(async () => attempts.length === 1 && (await stack.rows()).some(({ lease }) => lease === null))
    await at(stack.db, timers, 'other', ahead(3_600_000))
    await timers.advance(stack.db, 'note', ['tried', 'unknown'])
    await until(async () => (await stack.effects()).length === 1)
    expect(attempts).toEqual(['tried 1', 'tried 2'])
    await until(async () => (await stack.rows()).length === 1)
  })

  it('is not made due earlier where it waits for another time than the one that is named', async () => {
    const timers = stack.timers()
    timers.work('note', once, async ({ timer, run }) => void (await run((tx) => effect(tx, timer.key))))
    const [soon, late] = [ahead(3_600_000), ahead(7_200_000)]
    await at(stack.db, timers, 'late', late)
    await at(stack.db, timers, 'soon', soon)
    await timers.start()
    await timers.advance(stack.db, 'note', ['late', 'soon'], [soon, soon])
    await until(async () => (await stack.effects()).length === 1)
    await timers.advance(stack.db, 'note', ['late'], [soon])
    expect((await stack.effects()).map(({ key }) => key)).toEqual(['soon'])
    expect(await stack.rows()).toMatchObject([{ key: 'late', attempt: 0, lease: null }])
  })

  it('passes its payload, key and attempt to the handler, and not before it is due', async () => {
    const timers = stack.timers()
    const dueAt = ahead(300)
    const seen = Promise.withResolvers<unknown>()
    timers.work('note', once, async ({ timer }) => seen.resolve({ ...timer, late: Date.now() >= dueAt.getTime() }))
    await timers.start()
    await at(stack.db, timers, 'key', dueAt, 'text')
    expect(await seen.promise).toMatchObject({ key: 'key', attempt: 1, payload: { text: 'text' }, dueAt, late: true })
  })

  it('that is due at once starts at the commit, without waiting for a tick', async () => {
    const timers = stack.timers({ pollMs: 600_000 })
    timers.work('note', once, async ({ timer, run }) => void (await run((tx) => effect(tx, timer.key))))
    await timers.start()
    await until(async () => (await stack.redis.keys(`${stack.prefix}:note:*`)).length > 0)
    await at(stack.db, timers, 'now')
    await until(async () => (await stack.effects()).length === 1)
  })

  it('does not exist when its transaction rolls back', async () => {
    const timers = stack.timers()
    const attempt = stack.db.transaction(async (tx) => {
      await timers.schedule(tx, { kind: 'note', key: 'never', payload: { text: '' } })
      throw new Error('rolled back')
    })
    await expect(attempt).rejects.toThrow('rolled back')
    expect(await stack.rows()).toEqual([])
  })

  it('is replaced when scheduled again under its kind and key', async () => {
    const timers = stack.timers()
    await at(stack.db, timers, 'same', ahead(3_600_000), 'old')
    await at(stack.db, timers, 'same', ago(0), 'new')
    await stack.db.transaction((tx) =>
      timers.schedule(tx, { kind: 'other', key: 'same', dueAt: ahead(3_600_000), payload: { text: 'other kind' } }),
    )
    expect((await stack.rows()).map(({ payload }) => payload.text)).toEqual(['new', 'other kind'])
  })

  it('is left unchanged by scheduleIfMissing, and set when it is missing', async () => {
    const timers = stack.timers()
    const dueAt = ahead(3_600_000)
    await at(stack.db, timers, 'there', dueAt, 'old')
    for (const key of ['there', 'missing'])
      await stack.db.transaction((tx) =>
        timers.scheduleIfMissing(tx, { kind: 'note', key, dueAt: ahead(7_200_000), payload: { text: 'new' } }),
      )
    const rows = await stack.rows()
    expect(rows.map(({ key, payload }) => [key, payload.text])).toEqual([
      ['there', 'old'],
      ['missing', 'new'],
    ])
  })

  it('given twice in one statement is set to the last one given', async () => {
    const timers = stack.timers()
    await stack.db.transaction((tx) =>
      timers.scheduleAll(tx, [
        { kind: 'note', key: 'k', payload: { text: 'first' } },
        { kind: 'note', key: 'k', payload: { text: 'last' } },
      ]),
    )
    expect((await stack.rows()).map(({ payload }) => payload.text)).toEqual(['last'])
  })

  it('does not run once cancelled', async () => {
    const timers = stack.timers()
    await at(stack.db, timers, 'a', ahead(100))
    await at(stack.db, timers, 'b', ahead(100))
    await at(stack.db, timers, 'c', ahead(100))
    expect(await stack.db.transaction((tx) => timers.cancel(tx, 'note', 'a', 'b', 'unknown'))).toBe(2)
    timers.work('note', once, async ({ timer, run }) => void (await run((tx) => effect(tx, timer.key))))
    await timers.start()
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key)).toEqual(['c'])
  })

  it('has no effect when cancelled while its attempt runs', async () => {
    const timers = stack.timers()
    const [begun, cancelled, ended] = [signal(), signal(), signal()]
    timers.work('note', once, async ({ timer, run }) => {
      begun.happen()
      await cancelled.happened
      await run((tx) => effect(tx, timer.key)).finally(ended.happen)
    })
    await timers.start()
    await at(stack.db, timers, 'running')
    await begun.happened
    expect(await timers.cancel(stack.db, 'note', 'running')).toBe(1)
    cancelled.happen()
    await ended.happened
    expect(await stack.effects()).toEqual([])
  })

  it("scheduled again while its attempt runs refuses that attempt's effect and runs its own", async () => {
    const timers = stack.timers()
    const [begun, replaced] = [signal(), signal()]
    timers.work('note', once, async ({ timer, run }) => {
      begun.happen()
      if (timer.payload.text === 'old') await replaced.happened
      await run((tx) => effect(tx, timer.key, timer.payload.text))
    })
    await timers.start()
    await at(stack.db, timers, 'k', undefined, 'old')
    await begun.happened
    await at(stack.db, timers, 'k', undefined, 'new')
    replaced.happen()
    await until(async () => (await stack.rows()).length === 0)
    expect(await stack.effects()).toEqual([{ key: 'k', text: 'new' }])
  })

  it('of a kind without a handler here is left to other processes', async () => {
    const timers = stack.timers()
    timers.work('other', once, async ({ run }) => void (await run((tx) => effect(tx, 'other'))))
    await timers.start()
    await at(stack.db, timers, 'left')
    await stack.db.transaction((tx) => timers.schedule(tx, { kind: 'other', key: 'taken', payload: { text: '' } }))
    await until(async () => (await stack.effects()).length === 1)
    expect((await stack.rows()).map(({ key, lease }) => [key, lease])).toEqual([['left', null]])
  })

  it('can have only one handler per kind', () => {
    const timers = stack.timers()
    timers.work('note', once, async () => {})
    expect(() => timers.work('note', once, async () => {})).toThrow('handler already')
  })
})
