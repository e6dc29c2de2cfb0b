/** Something to read for a thread; its bytes are moved, not copied. */
export interface ThreadRequest<Limits> {
  readonly raw: Uint8Array<ArrayBuffer>
  readonly limits: Limits
}

/** Messages of a thread: first that it is loaded and accepts requests, then the answer to each. */
export interface ThreadAnswer<Sent> {
  readonly read?: Sent
  /** Bytes of its heap, garbage included. */
  readonly heap: number
  /** Processor time since the start of the thread, in milliseconds. */
  readonly cpuMs: number
}
