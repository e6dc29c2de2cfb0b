/** Seals private keys for storage. Each is bound to a context, and names the key of the installation that sealed it. */
export interface KeySeal {
  seal(context: string, text: string): { readonly sealed: Buffer; readonly sealedWith: string }
  /** @throws DecryptionError */
  open(context: string, sealed: Uint8Array, sealedWith: string): string
}
