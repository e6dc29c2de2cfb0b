import { DirectoryBlobStore } from './directory.ts'
import { MeasuredBlobStore } from './measured.ts'
import type { S3Config } from './s3.ts'
import type { BlobStore } from './store.ts'

export type BlobStoreConfig = { readonly kind: 'directory'; readonly root: string } | S3Config

/**
 * Parses the variable `BLOB_STORE`: `directory:/path`, or `s3://bucket/prefix?endpoint=https://host&region=name`.
 * `path_style=false` addresses the bucket as a host name; the default is by path when there is an endpoint. Credentials
 * are not part of it: the AWS SDK finds them in its usual places (`AWS_ACCESS_KEY_ID`, a role, ...).
 * @throws Error that says what is wrong.
 */
export function parseBlobStore(text: string): BlobStoreConfig {
  const directory = /^directory:(.+)$/s.exec(text)?.[1]
  if (directory !== undefined) return { kind: 'directory', root: directory }
  if (!text.startsWith('s3://') || !URL.canParse(text))
    throw new Error('BLOB_STORE must be directory:/path or s3://bucket/prefix?endpoint=...&region=...')
  const url = new URL(text)
  const unknown = [...url.searchParams.keys()].find((key) => !['endpoint', 'region', 'path_style'].includes(key))
  if (unknown !== undefined) throw new Error(`BLOB_STORE: s3 accepts endpoint, region and path_style, not ${unknown}.`)
  const endpoint = url.searchParams.get('endpoint') ?? undefined
  if (endpoint !== undefined && !/^https?:\/\//.test(endpoint))
    throw new Error('BLOB_STORE: endpoint must be an http or https URL.')
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '')
  return {
    kind: 's3',
    bucket: url.host,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    region: url.searchParams.get('region') ?? 'us-east-1',
    pathStyle: (url.searchParams.get('path_style') ?? String(endpoint !== undefined)) === 'true',
  }
}

/**
 * Opens the store that a configuration, or the text of `BLOB_STORE`, describes; its operations are measured. `start()`
 * makes it ready for use. The S3 SDK is loaded only for a bucket.
 */
export async function openBlobStore(config: BlobStoreConfig | string): Promise<BlobStore> {
  if (typeof config === 'string') return openBlobStore(parseBlobStore(config))
  switch (config.kind) {
    case 'directory':
      return new MeasuredBlobStore(new DirectoryBlobStore(config.root))
    case 's3': {
      const { S3BlobStore } = await import('./s3.ts')
      return new MeasuredBlobStore(new S3BlobStore(config))
    }
  }
}
