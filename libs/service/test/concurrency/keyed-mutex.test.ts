import { KeyedMutex } from '../../src/concurrency/index.ts'

describe('KeyedMutex', () => {
  it('runs work on one key in the order in which it came, and never two at once', async () => {
    const mutex = new KeyedMutex()
    const seen: string[] = []
    const work = (name: string) => async () => {
      seen.push(`${name} begins`)
      await new Promise(setImmediate)
      seen.push(`${name} ends`)
    }
    await Promise.all(['a', 'b', 'c'].map((name) => mutex.run('key', work(name))))
    expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  })

  it('runs work on other keys concurrently', async () => {
    const mutex = new KeyedMutex()
    const held = Promise.withResolvers<string>()
    const first = mutex.run('one', () => held.promise)
    expect(await mutex.run('two', async () => 'done')).toBe('done')
    held.resolve('later')
    expect(await first).toBe('later')
  })

  it('continues after work that fails', async () => {
    const mutex = new KeyedMutex()
    const failing = mutex.run('key', async () => {
      throw new Error('no')
    })
    const next = mutex.run('key', async () => 'done')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('done')
  })

  it('refuses work that waited too long without running it, and keeps its successors behind its predecessor', async () => {
    const mutex = new KeyedMutex({ timeoutMs: 50 })
    const held = Promise.withResolvers<void>()
    const seen: string[] = []
    const first = mutex.run('key', async () => {
      await held.promise
      seen.push('first')
    })
    const impatient = mutex.run('key', async () => void seen.push('impatient'))
    await expect(impatient).rejects.toMatchObject({ status: 503, code: 'service_unavailable' })
    const last = mutex.run('key', async () => void seen.push('last'))
    held.resolve()
    await Promise.all([first, last])
    expect(seen).toEqual(['first', 'last'])
  })
})
