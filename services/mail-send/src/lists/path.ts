import type { List } from './store.ts'

/** The path of an entry in the API. @param scope the pod and the address of the inbox, for a list of theirs. */
export function pathOf(
  { tier, direction, type }: Pick<List, 'tier' | 'direction' | 'type'>,
  { podId, address = '' }: { readonly podId: string | null; readonly address?: string | undefined },
  entry: string,
): string {
  const prefixes = {
    organization: '/v0',
    pod: `/v0/pods/${podId}`,
    inbox: `/v0/inboxes/${encodeURIComponent(address)}`,
  }
  return `${prefixes[tier]}/lists/${direction}/${type}/${encodeURIComponent(entry)}`
}
