export { DecryptionError, SecretBox } from './secret-box.ts'
