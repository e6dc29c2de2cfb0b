import { Readable } from 'node:stream'
import { type BlobStore, openBlobStore, parseBlobStore } from '@restante/blobs'
import { blobStoreContract } from '@restante/blobs/testing'
import { readTrust } from '@restante/service/engines'
import { describeAtFullLength, freePort } from '@restante/testkit'
import { type Foundation, layFoundation, removeFoundation } from './secure-engines.ts'
import { ObjectStore } from './servers/object-store.ts'

const credentials = { accessKeyId: 'restante', secretAccessKey: 'the secret of the bucket' }

describeAtFullLength({ programs: ['openssl', 'versitygw'] }, 'a bucket of a real S3 server over TLS', () => {
  let foundation: Foundation
  let server: ObjectStore
  let store: BlobStore
  beforeAll(async () => {
    foundation = await layFoundation()
    const [certificate, port] = await Promise.all([foundation.authority.issue('s3-server'), freePort()])
    server = await ObjectStore.start({ folder: foundation.folder, port, certificate, bucket: 'mail', ...credentials })
    store = await open({})
  })
  afterAll(async () => {
    await store?.stop()
    await server?.stop()
    await removeFoundation(foundation)
  })

  async function open(changes: object, location = server.location): Promise<BlobStore> {
    const config = parseBlobStore(location)
    if (config.kind !== 's3') throw new Error('it is no bucket')
    return openBlobStore({ ...config, credentials, trust: foundation.trust, ...changes })
  }

  const refused = async (changes: object, location?: string) => {
    const other = await open(changes, location)
    return other.ready().then(
      () => 'it is reached',
      (error: Error) => error.message,
    )
  }

  describe('as any store', () => blobStoreContract(() => store, { nested: false }))

  it('leaves nothing of a large stream that fails', async () => {
    const breaking = Readable.from(
      (async function* () {
        for (let part = 0; part < 20; part++) yield Buffer.alloc(1024 * 1024, part)
        throw new Error('the peer went away')
      })(),
    )
    await expect(store.put('mail/broken', breaking)).rejects.toThrow('the peer went away')
    expect(await store.exists('mail/broken')).toBe(false)
  })

  it('is ready when the bucket exists, and not when it does not', async () => {
    await expect(store.ready()).resolves.toBeUndefined()
    await expect((await open({ bucket: 'other' })).ready()).rejects.toThrow()
  })

  it('is refused when another authority has signed its certificate', async () => {
    for (const trust of [undefined, readTrust(foundation.stranger.file)])
      expect(await refused({ trust })).toMatch(/^The object store: no trusted authority has signed .*ENGINE_CA_FILE/)
  })

  it('names the variables when the key is wrong, and does not repeat it', async () => {
    const message = await refused({ credentials: { ...credentials, secretAccessKey: 'wrong-secret' } })
    expect(message).toMatch(/^The object store: it refused the credentials .*AWS_SECRET_ACCESS_KEY/)
    expect(message).not.toMatch('wrong-secret')
  })
})
