const unbuilt = (): never => {
  throw new Error('not built yet')
}

/** On the integration branch only: the parts replace these, and this file goes before the branch is merged. */
export const unbuiltHandlers = {
  'apps.connect': unbuilt,
  'providers.connect': unbuilt,
  'apps.authorize': unbuilt,
}
