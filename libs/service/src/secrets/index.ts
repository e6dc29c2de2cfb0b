export { KeyRing, type KeyRingOptions, type Sealed } from './key-ring.ts'
export { DecryptionError, SecretBox } from './secret-box.ts'
