import { Batcher } from '@restante/service/concurrency'
import { UpstreamError } from '@restante/service/errors'

/** Work that a test completes by hand, and the batches that it was given. */
function controlled(atOnce = 1, most = 10, relieveAfterMs?: number) {
  const begun: string[][] = []
  const ends: (() => void)[] = []
  const batches = new Batcher<string, string>({
    maxItems: most,
    concurrency: atOnce,
    ...(relieveAfterMs !== undefined && { relieveAfterMs }),
    async work(items) {
      begun.push([...items])
      await new Promise<void>((end) => ends.push(end))
      if (items.includes('outage')) throw new UpstreamError('not now')
      if (items.length > 1 && items.includes('deadlock'))
        throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
      if (items.includes('bad')) throw new Error('no good')
      return items.map((item) => item.toUpperCase())
    },
  })
  /** Completes what is under way, until no further batch starts. */
  const goOn = async (): Promise<void> => {
    for (let end = ends.shift(); end; end = ends.shift()) {
      end()
      await new Promise(setImmediate)
    }
  }
  return { begun, batches, goOn }
}
const turn = () => new Promise(setImmediate)

describe('Batcher', () => {
  it('starts at once, and batches items added in the same turn or while a batch was running', async () => {
    const { begun, batches, goOn } = controlled()
    const first = [batches.add('a'), batches.add('b')]
    await turn()
    expect(begun).toEqual([['a', 'b']])
    const second = [batches.add('c')]
    await turn()
    second.push(batches.add('d'))
    await turn()
    expect(begun).toHaveLength(1)
    await goOn()
    expect(begun).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    expect(await Promise.all([...first, ...second])).toEqual(['A', 'B', 'C', 'D'])
  })

  it('keeps batches within their maximum size, and runs the allowed number concurrently', async () => {
    const { begun, batches, goOn } = controlled(2, 2)
    const all = ['a', 'b', 'c', 'd', 'e'].map((item) => batches.add(item))
    await turn()
    expect(begun).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    await goOn()
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C', 'D', 'E'])
  })

  it('runs one more beside a batch that takes long, however many do', async () => {
    const { begun, batches, goOn } = controlled(1, 10, 20)
    const all = [batches.add('a')]
    await turn()
    all.push(batches.add('b'))
    await turn()
    expect(begun).toEqual([['a']])
    while (begun.length < 2) await turn()
    all.push(batches.add('c'))
    // By then the second one takes long, too.
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(begun).toEqual([['a'], ['b']])
    await goOn()
    expect(begun).toEqual([['a'], ['b'], ['c']])
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C'])
  })

  it('retries items one by one when one of them fails the batch, so that it fails alone', async () => {
    const { batches, goOn } = controlled()
    const all = Promise.allSettled(['a', 'bad', 'c'].map((item) => batches.add(item)))
    await turn()
    await goOn()
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('retries items one by one after a deadlock, which the batch as a whole has not caused', async () => {
    const { batches, goOn } = controlled()
    const all = Promise.all(['a', 'deadlock', 'c'].map((item) => batches.add(item)))
    await turn()
    await goOn()
    expect(await all).toEqual(['A', 'DEADLOCK', 'C'])
  })

  it('fails the whole batch in an outage, which retrying one by one would only prolong', async () => {
    const { begun, batches, goOn } = controlled()
    const all = Promise.allSettled(['a', 'outage', 'c'].map((item) => batches.add(item)))
    await turn()
    await goOn()
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(begun).toHaveLength(1)
  })
})
