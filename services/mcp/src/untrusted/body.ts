export interface ShownBody {
  readonly text: string
  readonly source: string
  readonly totalChars: number
  readonly offset: number
  readonly nextOffset?: number
}
export function shownBody(
  message: { readonly text?: string | undefined },
  part: { readonly maxChars: number; readonly offset?: number | undefined; readonly whole?: boolean | undefined },
): ShownBody | undefined {
  if (message.text === undefined) return undefined
  return { text: message.text.slice(0, part.maxChars), source: 'text', totalChars: message.text.length, offset: 0 }
}
