export { BlobNotFoundError, InvalidBlobNameError } from './errors.ts'
export { type BlobStoreConfig, openBlobStore, parseBlobStore } from './open.ts'
export type { BlobRange, BlobStore, PutOptions, StoredBlob } from './store.ts'
