import type { Handlers } from '@restante/service/http'

const unbuilt = (): never => {
  throw new Error('not built yet')
}

/** On the integration branch only: the parts replace these, and this file goes before the branch is merged. */
export const unbuiltHandlers: Handlers<'apps-signin'> = {
  'apps.list': unbuilt,
  'apps.search': unbuilt,
  'apps.get': unbuilt,
  'apps.listAccounts': unbuilt,
  'apps.connect': unbuilt,
  'providers.list': unbuilt,
  'providers.search': unbuilt,
  'providers.get': unbuilt,
  'providers.listAccounts': unbuilt,
  'providers.connect': unbuilt,
  'accounts.list': unbuilt,
  'accounts.get': unbuilt,
  'accounts.update': unbuilt,
  'accounts.patch': unbuilt,
  'apps.authorize': unbuilt,
}

export const unbuiltInternal = {
  'apps-signin.purgeInbox': unbuilt,
  'apps-signin.listInboxes': unbuilt,
  'apps-signin.check': unbuilt,
}
