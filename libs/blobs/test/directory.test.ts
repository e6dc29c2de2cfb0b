import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { type BlobStore, openBlobStore } from '../src/index.ts'
import { blobStoreContract } from './contract.ts'

describe('a directory', () => {
  let root: string
  let store: BlobStore

  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'restante-blobs-'))
    store = await openBlobStore(`directory:${root}`)
    await store.start()
  })
  afterAll(async () => {
    await store.stop()
    await rm(root, { recursive: true })
  })

  blobStoreContract(() => store)

  it('leaves no temporary file, whether a put succeeds or fails', async () => {
    await store.put('mail/fine', Buffer.from('x'))
    await store.copy('mail/fine', 'mail/fine')
    const failing = new Readable({ read: () => failing.destroy(new Error('broken')) })
    await expect(store.put('mail/failing', failing)).rejects.toThrow('broken')
    expect(await readdir(path.join(root, '.incoming'))).toEqual([])
  })

  it('sweeps files of crashed puts, but not those that another process is writing', async () => {
    const [crashed, running] = ['crashed', 'running'].map((file) => path.join(root, '.incoming', file))
    await Promise.all([crashed, running].map((file) => writeFile(file ?? '', 'half')))
    const hoursAgo = Date.now() / 1000 - 2 * 3600
    await utimes(crashed ?? '', hoursAgo, hoursAgo)
    await (await openBlobStore(`directory:${root}`)).start()
    expect(await readdir(path.join(root, '.incoming'))).toEqual(['running'])
  })

  it('stores a blob while another process deletes its neighbours', async () => {
    const other = await openBlobStore(`directory:${root}`)
    for (let round = 0; round < 20; round++) {
      const puts = Array.from({ length: 10 }, (_, index) => store.put(`race/box/${round}-${index}`, Buffer.from('x')))
      await Promise.all([...puts, other.deletePrefix('race/box/')])
    }
    await store.put('race/box/last', Buffer.from('x'))
    expect(await other.exists('race/box/last')).toBe(true)
  })

  it('is accessible to its owner only, whatever the umask, and restricts existing permissions', async () => {
    const before = process.umask(0)
    const open = path.join(root, 'open')
    try {
      await mkdir(path.join(open, 'mail'), { recursive: true })
      const owned = await openBlobStore(`directory:${open}`)
      await owned.start()
      await owned.put('mail/box/letter', Buffer.from('x'))
      await owned.copy('mail/box/letter', 'mail/other/letter')
    } finally {
      process.umask(before)
    }
    const entries = await readdir(open, { recursive: true, withFileTypes: true })
    const modes = entries.map(async (entry) => {
      const { mode } = await stat(path.join(entry.parentPath, entry.name))
      return `${entry.isFile() ? 'file' : 'directory'} ${(mode & 0o777).toString(8)}`
    })
    expect((await stat(open)).mode & 0o777).toBe(0o700)
    // Without the one that existed before: nothing below a restricted directory can be reached.
    const made = (await Promise.all(modes)).filter((_, index) => entries[index]?.name !== 'mail')
    expect(new Set(made)).toEqual(new Set(['file 600', 'directory 700']))
  })

  it('is not ready when its directory is gone', async () => {
    const lost = await openBlobStore(`directory:${root}/lost`)
    await lost.start()
    await rm(path.join(root, 'lost'), { recursive: true })
    await expect(lost.ready()).rejects.toThrow('ENOENT')
  })
})
