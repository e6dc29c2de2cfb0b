import { hkdfSync } from 'node:crypto'
import { DecryptionError, SecretBox } from './secret-box.ts'

export interface KeyRingOptions {
  /** Seals, and opens. */
  readonly current: string
  /** Only open. */
  readonly previous: readonly string[]
  /** Separates uses of one key, as in `SecretBox`. */
  readonly purpose: string
}

/** A sealed text, with the id of the key that sealed it. */
export interface Sealed {
  readonly sealed: Buffer
  readonly sealedWith: string
}

/** Seals texts with the encryption key of the installation, and opens those that its earlier keys have sealed. */
export class KeyRing {
  /** Id of the key that seals. */
  readonly current: string
  readonly #boxes: ReadonlyMap<string, SecretBox>

  constructor({ current, previous, purpose }: KeyRingOptions) {
    this.current = idOf(current)
    this.#boxes = new Map([current, ...previous].map((secret) => [idOf(secret), new SecretBox(secret, purpose)]))
  }

  /** Ids of the keys that only open. */
  get previous(): readonly string[] {
    return [...this.#boxes.keys()].filter((id) => id !== this.current)
  }

  /** @param context bound to the text, as in `SecretBox`. */
  seal(context: string, text: string): Sealed {
    return { sealed: this.#box(this.current).seal(context, text), sealedWith: this.current }
  }

  /** @throws DecryptionError when the key is not known, or the text was altered. */
  open(context: string, sealed: Uint8Array, sealedWith: string): string {
    return this.#box(sealedWith).open(context, sealed)
  }

  #box(id: string): SecretBox {
    const box = this.#boxes.get(id)
    if (box) return box
    throw new DecryptionError(`the encryption key ${id} is neither ENCRYPTION_KEY nor one of PREVIOUS_ENCRYPTION_KEYS`)
  }
}

/** Says which key it is, and nothing of the key. */
function idOf(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', 'restante id of an encryption key', 8)).toString('hex')
}
