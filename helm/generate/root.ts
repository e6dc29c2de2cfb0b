import path from 'node:path'

/** The folder of the repository. */
export const root = path.resolve(import.meta.dirname, '../..')

/** The folder of the chart. */
export const chart = path.join(root, 'helm/restante')
