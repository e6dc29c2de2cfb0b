import { callerVariables, configurationOf } from '@restante/kit'

export const configuration = configurationOf('metrics', { peers: ['gateway'] }).with(callerVariables)
