import { Gauge } from 'prom-client'

const age = new Gauge({
  name: 'restante_signing_key_age_seconds',
  help: 'Time since the newest key of ID tokens began to sign; negative while it waits for its day. Above 30 days, rotation has stopped',
})

const unopenable = new Gauge({
  name: 'restante_signing_keys_unopenable',
  help: 'Keys of ID tokens that no encryption key of this process opens',
})

/** Reports the keys as a round of the rotation found them. */
export function reportKeys(found: { readonly ageSeconds: number; readonly unopenable: number }): void {
  age.set(found.ageSeconds)
  unopenable.set(found.unopenable)
}
