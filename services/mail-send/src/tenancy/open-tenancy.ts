import type { BlobStore } from '@restante/blobs'
import type { SendKit } from '../config.ts'
import { tenancyConsumer } from './consumers.ts'
import { Purge, purgeBacklog } from './purge.ts'
import { purgeRoutes } from './routes.ts'

/** Follows the ends of inboxes and organizations. @returns the routes by which the gateway asks for them. */
export function openTenancy(kit: SendKit, blobs: BlobStore): ReturnType<typeof purgeRoutes> {
  const { db, kafka, log } = kit
  const { notify } = kit.use(new Purge({ db, blobs, log }))
  kit.use(purgeBacklog(db, log))
  kit.use(tenancyConsumer({ kafka, db, notify }))
  return purgeRoutes({ db, notify })
}
