import { detectMimeType } from 'nodemailer/lib/mime-funcs'

/** The media type of a file without one: by its name, else `application/octet-stream` (mail 16). */
export function mediaTypeOf(filename: string | undefined): string {
  return detectMimeType(filename)
}

/** How a file is shown of which nothing is said: inside the html when that can refer to it (mail 16). */
export function dispositionOf(contentId: string | undefined): 'inline' | 'attachment' {
  return contentId === undefined ? 'attachment' : 'inline'
}
