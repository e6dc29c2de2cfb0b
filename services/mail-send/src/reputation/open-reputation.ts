import type { Config, SendKit } from '../config.ts'
import { Reputation } from './reputation.ts'

/** Judges organizations by what comes back of their mail, where the operator wants that. */
export function openReputation(kit: SendKit, { reputation }: Config): void {
  if (reputation) kit.use(new Reputation({ ...reputation, db: kit.db, gateway: kit.peer('gateway'), log: kit.log }))
}
