import { z } from 'zod'
import { urlPrefix } from './urls.ts'

/** Of the window that the page of a provider is made for, where its settings do not say. */
const USUAL_PIXELS = 750

const displayName = z
  .string()
  // Names are shown to people, and anybody may have written them.
  .transform((text) => text.replace(/\p{C}/gu, '').trim())
  .pipe(z.string().min(1).max(255))
const prefix = z.string().max(2_048).transform(urlPrefix)
const pixels = z.int().min(1).max(10_000).catch(USUAL_PIXELS)

/** The settings of a zone at its DNS provider. Members without a use here are ignored. */
const document = z.object({
  providerId: z.string().min(1).max(255),
  providerName: displayName,
  providerDisplayName: displayName.optional().catch(undefined),
  urlSyncUX: prefix.optional().catch(undefined),
  urlAPI: prefix,
  width: pixels,
  height: pixels,
  /** Members that must be understood where they are present. */
  crit: z.array(z.string()).optional(),
})

export interface ProviderSettings {
  readonly providerId: string
  /** To be shown to people. */
  readonly name: string
  /** URL prefix of the page on which an owner agrees to a change; undefined: none is offered, or not over https. */
  readonly page: string | undefined
  /** URL prefix of the interface that tells which templates are known. */
  readonly api: string
  readonly width: number
  readonly height: number
}

/** @returns undefined when it is no such document, or demands what is not understood here. */
export function readSettings(json: unknown): ProviderSettings | undefined {
  const { data } = document.safeParse(json)
  if (data?.urlAPI === undefined || demandsMore(data.crit ?? [], json)) return undefined
  const { providerId, providerName, providerDisplayName, urlSyncUX, urlAPI, width, height } = data
  return { providerId, name: providerDisplayName ?? providerName, page: urlSyncUX, api: urlAPI, width, height }
}

function demandsMore(demanded: readonly string[], json: unknown): boolean {
  return demanded.some(
    (member) => !(member in document.shape) && typeof json === 'object' && json !== null && Object.hasOwn(json, member),
  )
}
