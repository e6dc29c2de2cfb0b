import { detectMimeType } from 'nodemailer/lib/mime-funcs'

/** The media type of a file without one: by its name, else `application/octet-stream` (mail 16). */
export function mediaTypeOf(filename: string | undefined): string {
  return detectMimeType(filename)
}

/** The default disposition: inline with a content id, by which html refers to the file, else an attachment (mail 16). */
export function dispositionOf(contentId: string | undefined): 'inline' | 'attachment' {
  return contentId === undefined ? 'attachment' : 'inline'
}
