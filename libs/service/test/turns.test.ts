import { KeyedMutex } from '../src/index.ts'

describe('turns', () => {
  it('runs work on one key in the order in which it came, and never two at once', async () => {
    const turns = new KeyedMutex()
    const seen: string[] = []
    const work = (name: string) => async () => {
      seen.push(`${name} begins`)
      await new Promise(setImmediate)
      seen.push(`${name} ends`)
    }
    await Promise.all(['a', 'b', 'c'].map((name) => turns.run('key', work(name))))
    expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  })

  it('runs work on other keys meanwhile', async () => {
    const turns = new KeyedMutex()
    const held = Promise.withResolvers<string>()
    const first = turns.run('one', () => held.promise)
    expect(await turns.run('two', async () => 'done')).toBe('done')
    held.resolve('later')
    expect(await first).toBe('later')
  })

  it('goes on behind work that fails', async () => {
    const turns = new KeyedMutex()
    const failing = turns.run('key', async () => {
      throw new Error('no')
    })
    const next = turns.run('key', async () => 'done')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('done')
  })

  it('refuses what waited too long, without ever doing it, and lets nobody pass the one that it waited for', async () => {
    const turns = new KeyedMutex({ patienceMs: 50 })
    const held = Promise.withResolvers<void>()
    const seen: string[] = []
    const first = turns.run('key', async () => {
      await held.promise
      seen.push('first')
    })
    const impatient = turns.run('key', async () => void seen.push('impatient'))
    await expect(impatient).rejects.toMatchObject({ status: 503, code: 'service_unavailable' })
    const last = turns.run('key', async () => void seen.push('last'))
    held.resolve()
    await Promise.all([first, last])
    expect(seen).toEqual(['first', 'last'])
  })
})
