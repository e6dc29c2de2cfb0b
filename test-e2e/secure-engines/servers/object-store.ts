import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { listens } from '@restante/local/processes.ts'
import { isInstalled, waitFor } from '@restante/testkit'
import { type CertificateFiles, HOST } from './certificates.ts'

export const REGION = 'eu-north-1'

export interface ObjectStoreOptions {
  readonly folder: string
  readonly port: number
  readonly certificate: CertificateFiles
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** An S3 server, versitygw, with one bucket. */
export class ObjectStore {
  /** As `BLOB_STORE` names the bucket. */
  readonly location: string
  readonly #child: ChildProcess

  private constructor(location: string, child: ChildProcess) {
    this.location = location
    this.#child = child
  }

  static async start(options: ObjectStoreOptions): Promise<ObjectStore> {
    if (!isInstalled('versitygw'))
      throw new Error('versitygw is missing: deploy/cluster/programs.sh versitygw compiles it')
    const { port, certificate, bucket, accessKeyId, secretAccessKey } = options
    const home = path.join(options.folder, 'object-store')
    const [buckets, attributes] = [path.join(home, 'buckets'), path.join(home, 'attributes')]
    // A folder is a bucket.
    await mkdir(path.join(buckets, bucket), { recursive: true })
    await mkdir(attributes)
    const log = openSync(path.join(home, 'versitygw.log'), 'a')
    const place = ['--port', `127.0.0.1:${port}`, '--region', REGION]
    const tls = ['--cert', certificate.certificate, '--key', certificate.key]
    const child = spawn('versitygw', [...place, ...tls, 'posix', '--sidecar', attributes, buckets], {
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'], ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
    })
    closeSync(log)
    await waitFor(() => listens(port), { what: `the S3 server (${home})` })
    return new ObjectStore(`s3://${bucket}?endpoint=https://${HOST}:${port}&region=${REGION}`, child)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.kill()) await once(this.#child, 'exit')
  }
}
