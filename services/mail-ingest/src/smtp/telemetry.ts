import { Counter, Gauge } from 'prom-client'

export const smtpConnections = new Gauge({
  name: 'restante_smtp_connections',
  help: 'Open SMTP connections',
})
export const smtpSessions = new Counter({
  name: 'restante_smtp_sessions_total',
  help: 'SMTP connections by what became of them on arrival: admitted, limited (too many of one client)',
  labelNames: ['outcome'],
})
export const smtpAnswers = new Counter({
  name: 'restante_smtp_answers_total',
  help: 'Replies to SMTP clients by code, greetings (220) included',
  labelNames: ['code'],
})
export const smtpMails = new Counter({
  name: 'restante_smtp_mails_total',
  help: 'Mails by how DATA was answered: accepted, deferred (infrastructure), failed (defect), smuggling, loop, too_large, broken_off',
  labelNames: ['outcome'],
})
export const smtpRecipients = new Counter({
  name: 'restante_smtp_recipients_total',
  help: 'Recipients by how RCPT was answered: deliver, paused, report, complaint, dmarc, operator, unsubscribe, unknown, unknown_domain, limited, deferred',
  labelNames: ['outcome'],
})

// A series that began with the first event would hide that event from `increase()`.
for (const outcome of ['admitted', 'limited']) smtpSessions.inc({ outcome }, 0)
for (const outcome of ['accepted', 'deferred', 'failed', 'smuggling', 'loop', 'too_large', 'broken_off'])
  smtpMails.inc({ outcome }, 0)
const TAKEN = ['deliver', 'paused', 'report', 'complaint', 'dmarc', 'operator', 'unsubscribe']
for (const outcome of [...TAKEN, 'unknown', 'unknown_domain', 'limited', 'deferred']) smtpRecipients.inc({ outcome }, 0)
for (const code of [220, 221, 250, 354, 421, 450, 451, 452, 550, 552, 554]) smtpAnswers.inc({ code: String(code) }, 0)
