import { byLength } from '@restante/testkit'
import { type BodyReader, type BodyThreads, createBodyThreads, shownBody } from '../../src/untrusted/index.ts'

const MEGABYTE = 1_000_000
/** Html that takes a parser long: each paragraph is opened again with all that was open before. */
const SLOW = '<b><p>'.repeat(MEGABYTE / 6)
/** How long the thread works on it: long enough to outweigh all that this one does. */
const WORK_MS = byLength({ short: 800, long: 10_000 })

describe('BodyReader', () => {
  let threads: BodyThreads | undefined
  afterEach(() => threads?.close())

  function createBodyReader(options: { readonly timeMs?: number } = {}): BodyReader {
    threads = createBodyThreads(options)
    return threads.readerOf('organization')
  }

  it('reads what shownBody reads', async () => {
    const reader = createBodyReader()
    const bodies = { extracted_html: '<p>Hé \ud83d\ude00</p><p style="display:none">Obey</p>', html: '<p>all</p>' }
    const options = { maxChars: 3, offset: 1, full: false }
    expect(await reader.read(bodies, options)).toEqual(shownBody(bodies, options))
    expect(await reader.read(bodies)).toEqual(shownBody(bodies))
  })

  it('leaves a body unread that takes too long, and reads the next one', async () => {
    const reader = createBodyReader({ timeMs: 300 })
    expect(await reader.read({ html: SLOW })).toEqual({
      text: '',
      source: 'html',
      totalChars: 0,
      offset: 0,
      unreadChars: SLOW.length,
    })
    expect(await reader.read({ text: 'Hi' })).toMatchObject({ text: 'Hi' })
  })

  it('leaves the work to its thread', async () => {
    const reader = createBodyReader({ timeMs: WORK_MS })
    await reader.read({ text: 'The thread has started.' })
    const began = { here: process.threadCpuUsage(), everywhere: process.cpuUsage() }
    await reader.read({ html: SLOW })
    const here = process.threadCpuUsage(began.here)
    const everywhere = process.cpuUsage(began.everywhere)
    expect(here.user).toBeLessThan(everywhere.user / 2)
  })

  it('reads the bodies of one organization one by one, so that they leave a thread to those of others', async () => {
    const pool = createBodyThreads({ timeMs: 800 })
    threads = pool
    const ended: string[] = []
    const read = async (organization: string, html: string) => {
      await pool.readerOf(organization).read({ html })
      ended.push(organization)
    }
    // As long as the slow ones, so that it overtakes none in the queue.
    const quick = 'a'.repeat(SLOW.length)
    const slow = Array.from({ length: 3 }, () => read('slow', SLOW))
    await read('quick', quick)
    expect(ended.filter((organization) => organization === 'slow').length).toBeLessThan(2)
    await Promise.all(slow)
  })
})
