import { z } from 'zod'

/** Bytes in the object storage that services share; the digest is lower-case hex. */
export const blobReference = z.object({ name: z.string(), size: z.int(), sha256: z.string() })
export type BlobReference = z.infer<typeof blobReference>

/** Whose mail a fact is about: the immutable identities, never the address. */
export const mailScope = { organization_id: z.guid(), pod_id: z.guid(), inbox_uid: z.guid() }
