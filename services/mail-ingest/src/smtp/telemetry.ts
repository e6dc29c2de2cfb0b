import { Counter, Gauge } from 'prom-client'

export const smtpConnections = new Gauge({
  name: 'restante_smtp_connections',
  help: 'Open SMTP connections',
})
export const smtpMails = new Counter({
  name: 'restante_smtp_mails_total',
  help: 'Mails by how DATA was answered: accepted, deferred (infrastructure), failed (defect), smuggling, loop, too_large, broken_off',
  labelNames: ['outcome'],
})
export const smtpRecipients = new Counter({
  name: 'restante_smtp_recipients_total',
  help: 'Recipients by how RCPT was answered: deliver, paused, report, complaint, operator, unsubscribe, dropped, unknown, unknown_domain, limited, deferred',
  labelNames: ['outcome'],
})
