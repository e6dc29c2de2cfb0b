import { BlobNotFoundError } from '@restante/blobs'
import type { BinaryResponse } from '@restante/contracts/operations'
import { attachmentHeaders, textHeaders } from '@restante/service/downloads'
import { ApiError, notFound } from '@restante/service/errors'
import type { Handlers } from '@restante/service/http'
import type { DownloadLinks } from './links.ts'
import { type FileSource, findFile, NAMELESS, type StoredFile } from './stored-file.ts'

export interface FileRoutesOptions extends FileSource {
  readonly links: DownloadLinks
}

/** Downloads by signed links (mail 6.6, 16). */
export function fileRoutes(options: FileRoutesOptions): Pick<Handlers<'mail-ingest'>, 'files.download'> {
  return {
    'files.download': async ({ params }) => {
      const target = options.links.open(params.token)
      if (!target) {
        const fix = 'Ask for the message or attachment again to get a fresh link.'
        throw new ApiError('forbidden', { message: 'The link has expired or was altered', fix })
      }
      const file = await findFile(options, target)
      if (!file) throw notFound('File')
      try {
        return await download(file)
      } catch (error) {
        // The file was deleted after its row had been read.
        if (error instanceof BlobNotFoundError) throw notFound('File')
        throw error
      }
    },
  }
}

async function download({ kind, about, open }: StoredFile): Promise<BinaryResponse> {
  const { filename = NAMELESS, content_type, size } = about
  const headers = kind === 'text' ? textHeaders(filename, size) : attachmentHeaders(content_type, filename, size)
  return { headers, body: await open() }
}
