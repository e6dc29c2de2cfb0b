const PREVIEW_LENGTH = 200

/** The first 200 characters, line breaks kept, no character split (mail 5.1). */
export function preview(text: string): string {
  let end = 0
  for (let count = 0; count < PREVIEW_LENGTH && end < text.length; count++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}
