import { type BlobStore, openBlobStore, parseBlobStore } from '@restante/blobs'
import { UnsubscribeAddress, UnsubscribeLink } from '@restante/mime'
import { SecretBox } from '@restante/service/secrets'
import { OutboundContent } from '../../src/delivery/outbound/outbound-content.ts'

/** The content of one unsigned mail of the installation, in a directory of the test. */
export async function contentIn(directory: string, sendId: string): Promise<OutboundContent> {
  const blobs: BlobStore = await openBlobStore(parseBlobStore(`directory:${directory}`))
  const unsubscribe = {
    link: new UnsubscribeLink({ publicUrl: 'http://127.0.0.1', secret: 'secret' }),
    address: new UnsubscribeAddress({ domain: 'bounces.restante.test', secret: 'secret' }),
  }
  const content = new OutboundContent({
    blobs,
    box: new SecretBox('secret', 'system mail'),
    dkim: undefined,
    unsubscribe,
  })
  await content.seal(sendId, Buffer.from('Subject: x\r\n\r\nplain words\r\n'))
  return content
}
