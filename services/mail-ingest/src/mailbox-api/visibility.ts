import { type Caller, visibleLabels } from '@restante/contracts/access'
import { RESTRICTED_LABELS, type RestrictedLabel } from '@restante/contracts/vocabulary'

/** Query members that include restricted items in a list. */
export type Includes = { readonly [L in RestrictedLabel as `include_${L}`]?: boolean | undefined }

/**
 * Restricted labels that keep an item out of a list: without the permission, or not requested (mail 4.4 rules 2, 5, 6).
 */
export function hiddenInList(caller: Caller, includes: Includes): RestrictedLabel[] {
  const visible = new Set(visibleLabels(caller.credential))
  return RESTRICTED_LABELS.filter((label) => !visible.has(label) || includes[`include_${label}`] !== true)
}
