import { randomBytes } from 'node:crypto'
import { STORING_SERVICES } from '@restante/contracts/vocabulary'
import { Database, sqlUnprepared } from '@restante/service/database'
import {
  type Foundation,
  layFoundation,
  removeFoundation,
  SecureBroker,
  SecureStores,
} from '@restante/test-e2e/secure-engines/secure-engines.ts'
import { ObjectStore } from '@restante/test-e2e/secure-engines/servers/object-store.ts'
import { freePort } from '@restante/testkit'

/** PostgreSQL, Redis, Kafka and an S3 server, all with TLS and authentication, as an installation finds them. */
export interface Engines {
  readonly foundation: Foundation
  readonly stores: SecureStores
  readonly broker: SecureBroker
  readonly bucket: { readonly name: string; readonly endpoint: string; readonly region: string }
  readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string }
  stop(): Promise<void>
}

const BUCKET = 'restante'

/** Starts them, with a database for each service that stores. @param users of Kafka, which may do nothing yet. */
export async function startEngines(users: readonly string[]): Promise<Engines> {
  const foundation = await layFoundation()
  const started: { stop(): Promise<void> }[] = []
  const stop = async () => {
    await Promise.all(started.map((each) => each.stop()))
    await removeFoundation(foundation)
  }
  try {
    const stores = await SecureStores.start(foundation)
    started.push(stores)
    const broker = await SecureBroker.start(foundation, users)
    started.push(broker)
    const keys = { accessKeyId: 'restante', secretAccessKey: randomBytes(20).toString('hex') }
    const certificate = await foundation.authority.issue('s3-server')
    const place = { folder: foundation.folder, port: await freePort(), certificate }
    const objects = await ObjectStore.start({ ...place, bucket: BUCKET, ...keys })
    started.push(objects)
    await createDatabases(stores, foundation)
    const { searchParams } = new URL(objects.location)
    const [endpoint, region] = [searchParams.get('endpoint') ?? '', searchParams.get('region') ?? '']
    return { foundation, stores, broker, bucket: { name: BUCKET, endpoint, region }, keys, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** One database per service that stores, named after it, as the README of the chart asks for. */
async function createDatabases({ postgres }: SecureStores, { trust }: Foundation): Promise<void> {
  const db = new Database({ url: postgres.verified(), trust, applicationName: 'test' })
  for (const service of STORING_SERVICES) await db.query(sqlUnprepared(`create database "${service}"`))
  await db.stop()
}
