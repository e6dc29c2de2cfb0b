/** There is no blob with this name: it was deleted, or never became durable. */
export class BlobNotFoundError extends Error {
  readonly blob: string
  constructor(blob: string, options?: { cause: unknown }) {
    super(`No blob has the name ${blob}.`, options)
    this.name = 'BlobNotFoundError'
    this.blob = blob
  }
}

/** A name or prefix that no caller should have built; nothing was read or written. */
export class InvalidBlobNameError extends Error {
  constructor(reason: string) {
    super(`Not a blob name: ${reason}.`)
    this.name = 'InvalidBlobNameError'
  }
}

/** The code of a system error (`ENOENT`, ...), if `error` is one. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
