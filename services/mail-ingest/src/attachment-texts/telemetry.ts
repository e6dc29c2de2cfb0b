import { Counter, Gauge } from 'prom-client'

export const documentsRead = new Counter({
  name: 'restante_documents_total',
  help: 'Attempts to read the text of an attachment, by outcome: read, a reason why not, failed, or outage',
  labelNames: ['outcome'],
})

export const documentsWaiting = new Gauge({
  name: 'restante_documents_waiting',
  help: 'Attachments whose text is not read yet, at most 100,000; every process of the service reports the same',
})
