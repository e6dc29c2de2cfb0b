import { callerVariables, configurationOf } from '@restante/kit'

export const configuration = configurationOf('metrics', {
  peers: ['gateway', 'mail-ingest', 'mail-send', 'domains-dns'],
}).with(callerVariables)
