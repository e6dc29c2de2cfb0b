import type { ServiceName } from '@restante/contracts/vocabulary'
import type { MailPeer } from '@restante/testkit'

/** What the parts of a run share. */
export interface Scene {
  /** The mail server outside. */
  readonly server: MailPeer
  /** Tag of the images that are installed first, of an earlier release where there is one. */
  readonly earlier: string
  /** Tag of the images of this repository. */
  readonly current: string
  /** Services that came after the images that are installed first. */
  readonly later: readonly ServiceName[]
}

/** One part of a run: what it shows, and how. */
export interface Part {
  readonly name: string
  /** @returns what was counted, in words. @throws Error at the first thing that does not hold. */
  run(scene: Scene): Promise<string>
}
