export { BlobNotFoundError, InvalidBlobNameError } from './errors.ts'
export { type BlobStoreConfig, openBlobStore, parseBlobStore } from './open.ts'
export type { BlobPage, BlobRange, BlobStore, ListedBlob, PutOptions, StoredBlob } from './store.ts'
