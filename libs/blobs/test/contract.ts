import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { BlobNotFoundError, type BlobStore, InvalidBlobNameError } from '../src/index.ts'

async function read(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/**
 * What every blob store promises, whatever stores the bytes.
 * @param options `nested`: whether a name may be both a blob and a folder of blobs, which servers that store objects as
 * files do not allow. No service needs it.
 */
export function blobStoreContract(current: () => BlobStore, { nested = true } = {}): void {
  it('returns what was put, and reports its size and SHA-256', async () => {
    const content = randomBytes(100_000)
    const stored = await current().put('mail/one/a', content, { contentType: 'message/rfc822' })
    expect(stored).toEqual({ size: 100_000, sha256: createHash('sha256').update(content).digest('hex') })
    expect(content.equals(await current().buffer('mail/one/a'))).toBe(true)
    expect(await current().size('mail/one/a')).toBe(100_000)
  })

  it('stores a stream of more than one part', async () => {
    const megabyte = randomBytes(1024 * 1024)
    const hash = createHash('sha256')
    const content = Array.from({ length: 20 }, () => megabyte)
    for (const part of content) hash.update(part)
    const stored = await current().put('mail/large', Readable.from(content))
    expect(stored).toEqual({ size: 20 * 1024 * 1024, sha256: hash.digest('hex') })
    const got = createHash('sha256')
    for await (const chunk of await current().get('mail/large')) got.update(chunk)
    expect(got.digest('hex')).toBe(stored.sha256)
  })

  it('stores empty content as a blob of no bytes', async () => {
    expect((await current().put('mail/empty', Readable.from([]))).size).toBe(0)
    expect(await read(await current().get('mail/empty'))).toBe('')
  })

  it('leaves no blob when the content stream fails, and rethrows its error', async () => {
    const failing = Readable.from(
      (async function* () {
        yield Buffer.from('half')
        throw new Error('the peer went away')
      })(),
    )
    await expect(current().put('mail/half', failing)).rejects.toThrow('the peer went away')
    expect(await current().exists('mail/half')).toBe(false)
  })

  it('keeps the old blob when its replacement fails', async () => {
    await current().put('mail/kept', Buffer.from('old'))
    const failing = new Readable({ read: () => failing.destroy(new Error('broken')) })
    await expect(current().put('mail/kept', failing)).rejects.toThrow('broken')
    expect(await read(await current().get('mail/kept'))).toBe('old')
  })

  it('replaces a blob of the same name', async () => {
    await current().put('mail/twice', Buffer.from('first'))
    await current().put('mail/twice', Buffer.from('second'))
    expect(await read(await current().get('mail/twice'))).toBe('second')
  })

  it.each([
    [{ start: 2, end: 5 }, '234'],
    [{ start: 7 }, '789'],
    [{ end: 3 }, '012'],
    [{ start: 8, end: 100 }, '89'],
    [{ start: 5, end: 5 }, ''],
    [{ start: 10 }, ''],
    [{ start: 50, end: 60 }, ''],
  ])('reads the part %j', async (range, expected) => {
    await current().put('mail/digits', Buffer.from('0123456789'))
    expect(await read(await current().get('mail/digits', range))).toBe(expected)
  })

  it('reports a missing blob with an error class of its own', async () => {
    await expect(current().get('mail/none')).rejects.toBeInstanceOf(BlobNotFoundError)
    await expect(current().get('mail/none', { start: 5, end: 5 })).rejects.toBeInstanceOf(BlobNotFoundError)
    await expect(current().buffer('mail/none')).rejects.toBeInstanceOf(BlobNotFoundError)
    await expect(current().copy('mail/none', 'mail/other')).rejects.toBeInstanceOf(BlobNotFoundError)
    expect(await current().size('mail/none')).toBeUndefined()
    expect(await current().exists('mail/other')).toBe(false)
  })

  it('copies a blob, also over an existing name, and the copy outlives the original', async () => {
    await current().put('mail/from', Buffer.from('content'))
    await current().put('sent/to', Buffer.from('older'))
    await current().copy('mail/from', 'sent/to')
    await current().copy('mail/from', 'sent/to')
    await current().delete('mail/from')
    expect(await read(await current().get('sent/to'))).toBe('content')
  })

  it('deletes a blob once or many times', async () => {
    await current().put('mail/gone', Buffer.from('x'))
    await current().delete('mail/gone')
    await current().delete('mail/gone')
    await current().delete('never/was')
    expect(await current().exists('mail/gone')).toBe(false)
  })

  it('deletes all blobs below a prefix and no others', async () => {
    for (const name of ['box/1/a', 'box/1/b', 'box/1/deep/c', 'box/1/d', 'box/1/e', 'box/10/a', 'box/2/a'])
      await current().put(name, Buffer.from(name))
    await current().deletePrefix('box/1/')
    await current().deletePrefix('box/1/')
    for (const name of ['box/1/a', 'box/1/b', 'box/1/deep/c', 'box/1/d', 'box/1/e'])
      expect(await current().exists(name)).toBe(false)
    expect(await current().exists('box/10/a')).toBe(true)
    expect(await current().exists('box/2/a')).toBe(true)
    await current().put('box/1/a', Buffer.from('again'))
    expect(await current().exists('box/1/a')).toBe(true)
  })

  const itIfNested = nested ? it : it.skip
  itIfNested('lets a name be both a blob and a folder of blobs', async () => {
    await current().put('both', Buffer.from('blob'))
    await current().put('both/below', Buffer.from('below'))
    expect(await read(await current().get('both'))).toBe('blob')
    expect(await read(await current().get('both/below'))).toBe('below')
  })

  it.each([
    '',
    '/',
    'a//b',
    '/a',
    'a/',
    '../a',
    'a/../b',
    './a',
    'a/.hidden',
    '~aa/b',
    'a b',
    'a\\b',
    'a\0b',
    'ä',
    'a'.repeat(600),
  ])('refuses the name %j', async (name) => {
    const store = current()
    await expect(store.put(name, Buffer.from('x'))).rejects.toBeInstanceOf(InvalidBlobNameError)
    await expect(store.get(name)).rejects.toBeInstanceOf(InvalidBlobNameError)
    await expect(store.delete(name)).rejects.toBeInstanceOf(InvalidBlobNameError)
    await expect(store.deletePrefix(`${name}/`)).rejects.toBeInstanceOf(InvalidBlobNameError)
  })

  it('refuses a prefix that does not end with a slash', async () => {
    await expect(current().deletePrefix('box/1')).rejects.toBeInstanceOf(InvalidBlobNameError)
  })

  it('is ready once started', async () => {
    await expect(current().ready()).resolves.toBeUndefined()
  })

  it('lists everything below a prefix, once each, in pages, with the time of its last change', async () => {
    const names = ['list/one/a', 'list/one/b', 'list/two/c', 'list/d', 'list/e']
    for (const name of [...names, 'listed/f']) await current().put(name, Buffer.from(name))
    const found: string[] = []
    for (let after: string | undefined, last = false; !last; ) {
      const page = await current().list('list/', after, 2)
      for (const { name, modifiedAt } of page.blobs) {
        found.push(name)
        expect(Math.abs(Date.now() - modifiedAt.getTime())).toBeLessThan(60_000)
      }
      after = page.next
      last = after === undefined
    }
    expect(found.toSorted()).toEqual(names.toSorted())
    expect(await current().list('nothing/', undefined, 2)).toEqual({ blobs: [] })
  })
}
