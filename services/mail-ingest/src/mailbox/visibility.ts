import { type Caller, RESTRICTED_LABELS, type RestrictedLabel, visibleLabels } from '@restante/contracts'

/** Query members that let restricted items into a list. */
export type Includes = { readonly [L in RestrictedLabel as `include_${L}`]?: boolean | undefined }

/** Restricted labels whose items do not exist for a credential (mail 4.4 rules 1 and 8). */
export function invisibleLabels(caller: Caller): RestrictedLabel[] {
  const visible = new Set(visibleLabels(caller.credential))
  return RESTRICTED_LABELS.filter((label) => !visible.has(label))
}

/** Restricted labels that keep an item out of a list: without the permission, or not asked for (mail 4.4 rules 2, 5, 6). */
export function hiddenInList(caller: Caller, includes: Includes): RestrictedLabel[] {
  const invisible = new Set(invisibleLabels(caller))
  return RESTRICTED_LABELS.filter((label) => invisible.has(label) || includes[`include_${label}`] !== true)
}

/** The restricted ones among an item's labels, in the order of event headers. */
export function restrictedAmong(labels: readonly string[]): RestrictedLabel[] {
  return RESTRICTED_LABELS.filter((label) => labels.includes(label))
}
