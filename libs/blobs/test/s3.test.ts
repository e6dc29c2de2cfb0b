import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { BlobNotFoundError, type BlobStore, openBlobStore, parseBlobStore } from '../src/index.ts'
import { blobStoreContract } from './contract.ts'
import { S3Server } from './s3-server.ts'

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }

describe('a bucket', () => {
  const server = new S3Server('mail')
  let endpoint: string
  let store: BlobStore

  function open(location: string): Promise<BlobStore> {
    const config = parseBlobStore(`${location}?endpoint=${endpoint}&region=eu-north-1`)
    return openBlobStore(config.kind === 's3' ? { ...config, credentials } : config)
  }

  beforeAll(async () => {
    endpoint = await server.listen()
    store = await open('s3://mail/restante/blobs')
    await store.start()
  })
  afterAll(async () => {
    await store.stop()
    await server.close()
  })

  blobStoreContract(() => store)

  it('keeps its objects below its prefix', async () => {
    await store.put('mail/here', Buffer.from('x'))
    expect(server.objects.has('restante/blobs/mail/here')).toBe(true)
    expect(await (await open('s3://mail')).exists('restante/blobs/mail/here')).toBe(true)
  })

  it('sends a large stream in parts, and leaves none when the stream fails', async () => {
    const megabyte = randomBytes(1024 * 1024)
    const breaking = Readable.from(
      (async function* () {
        for (let part = 0; part < 20; part++) yield megabyte
        throw new Error('the peer went away')
      })(),
    )
    await expect(store.put('mail/broken', breaking)).rejects.toThrow('the peer went away')
    expect(server.multipartUploads).toContain('restante/blobs/mail/broken')
    expect(server.uploads.size).toBe(0)
  })

  it('does not report a missing bucket as a missing blob', async () => {
    const elsewhere = await open('s3://other')
    await expect(elsewhere.get('mail/a')).rejects.not.toBeInstanceOf(BlobNotFoundError)
    await expect(elsewhere.ready()).rejects.toThrow()
  })
})

describe('BLOB_STORE', () => {
  it('names a bucket with its endpoint, region and prefix', () => {
    expect(parseBlobStore('s3://mail/a/b/?endpoint=http://minio:9000&region=eu-north-1')).toEqual({
      kind: 's3',
      bucket: 'mail',
      prefix: 'a/b/',
      endpoint: 'http://minio:9000',
      region: 'eu-north-1',
      pathStyle: true,
    })
  })

  it('addresses an Amazon bucket by host name', () => {
    expect(parseBlobStore('s3://mail')).toMatchObject({ prefix: '', region: 'us-east-1', pathStyle: false })
  })

  it('names a directory', () => {
    expect(parseBlobStore('directory:/var/lib/restante')).toEqual({ kind: 'directory', root: '/var/lib/restante' })
  })

  it.each(['', '/var/lib', 'directory:', 'ftp://x', 's3://mail?endpoint=minio', 's3://mail?key=1'])(
    'refuses %j with an explanation',
    (text) => {
      expect(() => parseBlobStore(text)).toThrow(/^BLOB_STORE/)
    },
  )
})
