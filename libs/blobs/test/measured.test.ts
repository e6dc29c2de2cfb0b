import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { register } from 'prom-client'
import { BlobNotFoundError, InvalidBlobNameError, openBlobStore } from '../src/index.ts'

async function valuesOf(name: string, isWanted: (labels: Partial<Record<string, string | number>>) => boolean) {
  const found = (await register.getSingleMetric(name)?.get())?.values ?? []
  return found.filter(({ labels }) => isWanted(labels)).reduce((sum, { value }) => sum + value, 0)
}
const errors = () => valuesOf('restante_blob_errors_total', () => true)
const measured = (operation: string) =>
  valuesOf('restante_blob_seconds', (labels) => labels['operation'] === operation && labels['le'] === '+Inf')

describe('the metrics of an object store', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'restante-blobs-'))
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  it('measure each operation, and count what the disk fails to do', async () => {
    const store = await openBlobStore(`directory:${root}`)
    await store.start()
    const [put, buffer, failed] = [await measured('put'), await measured('buffer'), await errors()]
    await store.put('mail/a', Buffer.from('x'))
    await store.buffer('mail/a')
    expect([await measured('put'), await measured('buffer'), await errors()]).toEqual([put + 1, buffer + 1, failed])
    await rm(root, { recursive: true })
    await expect(store.put('mail/b', Buffer.from('x'))).rejects.toThrow('ENOENT')
    expect([await measured('put'), await errors()]).toEqual([put + 2, failed + 1])
  })

  it('count neither a missing blob, nor a wrong name, nor content that breaks off', async () => {
    const store = await openBlobStore(`directory:${root}`)
    await store.start()
    const failed = await errors()
    const broken = new Readable({ read: () => broken.destroy(new Error('sender gone')) })
    await expect(store.buffer('mail/none')).rejects.toThrow(BlobNotFoundError)
    await expect(store.get('../none')).rejects.toThrow(InvalidBlobNameError)
    await expect(store.put('mail/broken', broken)).rejects.toThrow('sender gone')
    expect(await errors()).toBe(failed)
  })
})
