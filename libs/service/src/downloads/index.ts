export { attachmentHeaders, textHeaders } from './headers.ts'
export { type DownloadLink, SignedLinks, type SignedLinksOptions } from './signed-links.ts'
