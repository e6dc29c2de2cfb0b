import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: Buffer | string
}

/** A fake object store at its wire: one bucket behind the few S3 calls that the store makes. Small pages on purpose. */
export class S3Server {
  readonly objects = new Map<string, Buffer>()
  readonly uploads = new Map<string, Map<number, Buffer>>()
  readonly multipartUploads: string[] = []
  readonly #bucket: string
  readonly #server = createServer((request, response) => void this.#serve(request, response))

  constructor(bucket: string) {
    this.#bucket = bucket
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address: AddressInfo | string | null = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    return `http://127.0.0.1:${address.port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const url = new URL(request.url ?? '/', 'http://s3')
      const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/')
      const answer =
        bucket === this.#bucket
          ? this.#answer(request, url.searchParams, rest.join('/'), Buffer.concat(chunks))
          : failure(404, 'NoSuchBucket')
      response.writeHead(answer.status ?? 200, answer.headers).end(request.method === 'HEAD' ? undefined : answer.body)
    } catch {
      // The client disconnected in the middle of its request: no answer can be sent.
      response.destroy()
    }
  }

  #answer(request: IncomingMessage, query: URLSearchParams, key: string, body: Buffer): Answer {
    switch (request.method) {
      case 'PUT':
        return query.has('uploadId') ? this.#uploadPart(query, body) : this.#put(request, key, body)
      case 'POST':
        if (query.has('delete')) return this.#deleteMany(body.toString())
        return query.has('uploads') ? this.#createUpload(key) : this.#completeUpload(query, key)
      case 'DELETE':
        if (query.has('uploadId')) this.uploads.delete(query.get('uploadId') ?? '')
        else this.objects.delete(key)
        return { status: 204 }
      case 'HEAD':
        return key === '' ? {} : this.#get(key, undefined)
      default:
        return key === '' ? this.#list(query) : this.#get(key, request.headers.range)
    }
  }

  #put(request: IncomingMessage, key: string, body: Buffer): Answer {
    const source = request.headers['x-amz-copy-source']
    if (typeof source !== 'string') return this.#store(key, body)
    const original = this.objects.get(decodeURIComponent(source).replace(`${this.#bucket}/`, ''))
    if (!original) return failure(404, 'NoSuchKey')
    this.objects.set(key, original)
    return { body: `<CopyObjectResult><ETag>${tagOf(original)}</ETag></CopyObjectResult>` }
  }

  #store(key: string, body: Buffer): Answer {
    this.objects.set(key, body)
    return { headers: { etag: tagOf(body) } }
  }

  #get(key: string, range: string | undefined): Answer {
    const object = this.objects.get(key)
    if (!object) return failure(404, 'NoSuchKey')
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
    if (from === undefined) return { headers: { 'content-length': String(object.length) }, body: object }
    if (Number(from) >= object.length) return failure(416, 'InvalidRange')
    const part = object.subarray(Number(from), to ? Number(to) + 1 : undefined)
    return { status: 206, headers: { 'content-length': String(part.length) }, body: part }
  }

  #list(query: URLSearchParams): Answer {
    const [prefix, after] = [query.get('prefix') ?? '', query.get('start-after') ?? '']
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, Math.min(2, Number(query.get('max-keys') ?? 2)))
    const at = new Date().toISOString()
    const contents = page
      .map((key) => `<Contents><Key>${key}</Key><LastModified>${at}</LastModified></Contents>`)
      .join('')
    return {
      body: `<ListBucketResult><IsTruncated>${page.length < keys.length}</IsTruncated>${contents}</ListBucketResult>`,
    }
  }

  #deleteMany(xml: string): Answer {
    for (const [, key] of xml.matchAll(/<Key>([^<]*)<\/Key>/g)) this.objects.delete(key ?? '')
    return { body: '<DeleteResult></DeleteResult>' }
  }

  #createUpload(key: string): Answer {
    const id = randomUUID()
    this.uploads.set(id, new Map())
    this.multipartUploads.push(key)
    return { body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>` }
  }

  #uploadPart(query: URLSearchParams, body: Buffer): Answer {
    const parts = this.uploads.get(query.get('uploadId') ?? '')
    if (!parts) return failure(404, 'NoSuchUpload')
    parts.set(Number(query.get('partNumber')), body)
    return { headers: { etag: tagOf(body) } }
  }

  #completeUpload(query: URLSearchParams, key: string): Answer {
    const id = query.get('uploadId') ?? ''
    const parts = this.uploads.get(id)
    if (!parts) return failure(404, 'NoSuchUpload')
    this.uploads.delete(id)
    const whole = Buffer.concat([...parts].sort(([a], [b]) => a - b).map(([, part]) => part))
    this.objects.set(key, whole)
    return { body: `<CompleteMultipartUploadResult><ETag>${tagOf(whole)}</ETag></CompleteMultipartUploadResult>` }
  }
}

function tagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`
}

function failure(status: number, code: string): Answer {
  return { status, headers: { 'content-type': 'application/xml' }, body: `<Error><Code>${code}</Code></Error>` }
}
