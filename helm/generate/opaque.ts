import type { IsOneValue } from './values.ts'

/** Groups of values whose own keys are not those of the chart: what they hold is described elsewhere. */
const ONE_VALUE = /^(services|defaults\.resources|jobs\.resources|monitoring\.dashboards\.(labels|annotations))$/

export const isOneValue: IsOneValue = (path) => ONE_VALUE.test(path)
