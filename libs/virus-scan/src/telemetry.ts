import { Counter } from 'prom-client'

export const virusScans = new Counter({
  name: 'restante_virus_scans_total',
  help: 'Scans of mail by clamd, by outcome: clean, virus, suspicious; too_large, unscannable: the mail passed without a scan; failed, unavailable: it is scanned again',
  labelNames: ['outcome'],
})
for (const outcome of ['clean', 'virus', 'suspicious', 'too_large', 'unscannable', 'failed', 'unavailable'])
  virusScans.inc({ outcome }, 0)
