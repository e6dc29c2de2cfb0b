import { Counter } from 'prom-client'

export const mailsDeferred = new Counter({
  name: 'restante_inbound_limited_total',
  help: 'Mails (at MAIL), recipients (at RCPT) and internal hand-overs that were deferred by a rate or quota, by limit',
  labelNames: ['limit'],
})
