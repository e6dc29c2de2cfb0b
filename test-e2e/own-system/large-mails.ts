import { LIMITS } from '@restante/contracts/vocabulary'

const LINE = `${'QUJD'.repeat(19)}\r\n`
const FILE_LINES = Math.floor((LIMITS.inbound.bytes - 64 * 1024) / LINE.length)
/** Bytes of the file in the largest mail. */
export const FILE_BYTES = FILE_LINES * 57

/** A mail of the largest allowed size, nearly all of it one file. */
export const largestMail = Buffer.from(
  `From: ada@x.test\r\nSubject: large\r\nContent-Type: application/octet-stream; name=large\r\nContent-Transfer-Encoding: base64\r\n\r\n${LINE.repeat(FILE_LINES)}`,
)

/** A mail with this many small files. */
export function mailOfFiles(count: number): Buffer {
  const file = (number: number) =>
    `--b\r\nContent-Type: text/plain; name=file-${number}.txt\r\nContent-Disposition: attachment; filename=file-${number}.txt\r\n\r\n` +
    `Content of file ${number}.\r\n`
  const files = Array.from({ length: count }, (_, number) => file(number)).join('')
  return Buffer.from(
    `From: ada@x.test\r\nSubject: files\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n` +
      `--b\r\nContent-Type: text/plain\r\n\r\nSee the files.\r\n${files}--b--\r\n`,
  )
}

/** Bytes of a download, which are not kept. */
export async function sizeOf(url: string): Promise<number> {
  const response = await fetch(url)
  let size = 0
  for await (const chunk of response.body ?? []) size += chunk.length
  return size
}
