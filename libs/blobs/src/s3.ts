import { Agent } from 'node:https'
import { Readable } from 'node:stream'
import type { SecureContext } from 'node:tls'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { EngineAccessError, explained } from '@restante/service/engines'
import { Digest } from './digest.ts'
import { BlobNotFoundError } from './errors.ts'
import { parseName, parsePrefix } from './names.ts'
import type { BlobPage, BlobRange, BlobStore, PutOptions, StoredBlob } from './store.ts'

export interface S3Config {
  readonly kind: 's3'
  readonly bucket: string
  /** Prefix of every key: empty, or ending with `/`. */
  readonly prefix: string
  /** For a bucket that is not Amazon's. */
  readonly endpoint?: string | undefined
  readonly region: string
  readonly pathStyle: boolean
  /** Default: wherever the AWS SDK looks (environment, shared files, role of the machine). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** The authorities that the endpoint's certificate is accepted from. Default: the public ones. */
  readonly trust?: { readonly secureContext: SecureContext } | undefined
}

/**
 * A put holds at most this much in memory: content that fits into one part is one request, larger content is sent as
 * multipart.
 */
const PART_BYTES = 8 * 1024 * 1024
const PARTS_IN_FLIGHT = 2

/** As the SDK's own agents. */
const CONNECTIONS = { keepAlive: true, maxSockets: 50 }

/** A bucket that stops answering must fail the call; the SDK by default would wait forever. */
const TIMEOUTS = { connectionTimeout: 5_000, socketTimeout: 30_000 }

/** Blobs as objects of a bucket, which any number of hosts may share. The bucket makes them durable. */
export class S3BlobStore implements BlobStore {
  readonly name = 'blobs'
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string

  constructor(config: S3Config) {
    this.#bucket = config.bucket
    this.#prefix = config.prefix
    this.#client = new S3Client({
      region: config.region,
      forcePathStyle: config.pathStyle,
      requestHandler: {
        ...TIMEOUTS,
        // An agent and not its options: for requests with `Expect: 100-continue`, such as parts of large blobs, the SDK
        // makes agents of its own, without these options.
        ...(config.trust && { httpsAgent: new Agent({ ...CONNECTIONS, secureContext: config.trust.secureContext }) }),
      },
      // Newer checksum headers only where a call requires them: many S3-compatible servers refuse them.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(config.endpoint !== undefined && { endpoint: config.endpoint }),
      ...(config.credentials && { credentials: config.credentials }),
    })
    const usesTls = config.endpoint?.startsWith('https:') ?? true
    this.#client.middlewareStack.add(
      (next) => (args) =>
        next(args).catch((error: unknown) => {
          throw explained('The object store', usesTls, error)
        }),
      { step: 'initialize', name: 'explain failures of TLS and authentication' },
    )
  }

  async start(): Promise<void> {}

  async ready(): Promise<void> {
    try {
      await this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }))
    } catch (error) {
      // The answer to HEAD has no content that would name the reason.
      if (statusOf(error) !== 403) throw error
      throw new EngineAccessError(
        'The object store',
        'it refused the credentials (403); correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and allow s3:ListBucket',
        error,
      )
    }
  }

  async stop(): Promise<void> {
    this.#client.destroy()
  }

  async put(name: string, content: Readable | Uint8Array, options: PutOptions = {}): Promise<StoredBlob> {
    const digest = new Digest()
    const upload = new Upload({
      client: this.#client,
      params: {
        ...this.#object(name),
        Body: Readable.from(digest.of(content)),
        ...(options.contentType !== undefined && { ContentType: options.contentType }),
      },
      partSize: PART_BYTES,
      queueSize: PARTS_IN_FLIGHT,
    })
    await upload.done()
    return digest.result()
  }

  async get(name: string, range: BlobRange = {}): Promise<Readable> {
    const start = Math.max(0, range.start ?? 0)
    if (range.end !== undefined && range.end <= start) return this.#emptyPartOf(name)
    const wanted = start > 0 || range.end !== undefined
    try {
      const { Body } = await this.#client.send(
        new GetObjectCommand({
          ...this.#object(name),
          // In HTTP the end of a range is inclusive (RFC 9110 14.1.2), in a BlobRange it is exclusive.
          ...(wanted && { Range: `bytes=${start}-${range.end === undefined ? '' : range.end - 1}` }),
        }),
      )
      if (Body instanceof Readable) return Body
      throw new Error('The object store responded without a body.')
    } catch (error) {
      if (wanted && statusOf(error) === 416) return this.#emptyPartOf(name)
      throw missingOr(error, name)
    }
  }

  async #emptyPartOf(name: string): Promise<Readable> {
    if (await this.exists(name)) return Readable.from([])
    throw new BlobNotFoundError(name)
  }

  async buffer(name: string): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of await this.get(name)) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  async copy(from: string, to: string): Promise<void> {
    const source = this.#object(from)
    try {
      await this.#client.send(
        new CopyObjectCommand({ ...this.#object(to), CopySource: encodeURI(`${source.Bucket}/${source.Key}`) }),
      )
    } catch (error) {
      throw missingOr(error, from)
    }
  }

  async delete(name: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#object(name)))
  }

  async deletePrefix(prefix: string): Promise<void> {
    const Prefix = `${this.#prefix}${parsePrefix(prefix).join('/')}/`
    for (;;) {
      // Always the first page: the objects it listed are deleted by the next round.
      const page = await this.#client.send(new ListObjectsV2Command({ Bucket: this.#bucket, Prefix }))
      const keys = (page.Contents ?? []).map(({ Key }) => ({ Key }))
      if (keys.length === 0) return
      const { Errors } = await this.#client.send(
        new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects: keys, Quiet: true } }),
      )
      const [refused] = Errors ?? []
      if (refused) throw new Error(`The object store did not delete ${refused.Key}: ${refused.Code} ${refused.Message}`)
    }
  }

  async size(name: string): Promise<number | undefined> {
    try {
      const head = await this.#client.send(new HeadObjectCommand(this.#object(name)))
      return head.ContentLength
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }

  async exists(name: string): Promise<boolean> {
    return (await this.size(name)) !== undefined
  }

  async list(prefix: string, after: string | undefined, limit: number): Promise<BlobPage> {
    const Prefix = `${this.#prefix}${parsePrefix(prefix).join('/')}/`
    const page = await this.#client.send(
      new ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix,
        MaxKeys: limit,
        ...(after !== undefined && { StartAfter: this.#prefix + after }),
      }),
    )
    const blobs = (page.Contents ?? []).flatMap(({ Key, LastModified }) =>
      Key !== undefined && LastModified ? [{ name: Key.slice(this.#prefix.length), modifiedAt: LastModified }] : [],
    )
    const last = blobs.at(-1)
    return { blobs, ...(page.IsTruncated === true && last && { next: last.name }) }
  }

  #object(name: string): { Bucket: string; Key: string } {
    parseName(name)
    return { Bucket: this.#bucket, Key: this.#prefix + name }
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
}

/** A missing bucket answers 404 too, but is not a missing blob: the failure must not look final. */
function missingOr(error: unknown, name: string): unknown {
  const missing = error instanceof S3ServiceException && (error.name === 'NoSuchKey' || error.name === 'NotFound')
  return missing ? new BlobNotFoundError(name, { cause: error }) : error
}
