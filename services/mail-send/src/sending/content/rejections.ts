import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'

/** Why the attachments of one message are too many bytes. */
export const TOO_LARGE = `attachments that are fetched or referred to may have ${LIMITS.send.fetchedBytes} bytes together`

/**
 * The refusal of a message because of an attachment (mail 16).
 * @param index the place of the attachment in the request.
 */
export function rejected(index: number, reason: string, cause?: unknown): ApiError {
  return new ApiError('message_rejected', {
    message: `Message rejected: Attachment ${index} could not be fetched: ${reason}`,
    fix: 'Give a public URL that answers with the file itself, or its content as base64.',
    cause,
  })
}

/** The answer when a file may be there later. @param reason a sentence. */
export function unavailable(index: number, reason: string, cause?: unknown): ApiError {
  return new ApiError('service_unavailable', {
    fix: `Attachment ${index} could not be fetched: ${reason} Repeat the request in a moment, or give the content as base64.`,
    retryAfter: 1,
    cause,
  })
}

/** The refusal of a forward, or of a draft of one, whose attachments are too many bytes. */
export function tooLargeToForward(): ApiError {
  return new ApiError('message_rejected', {
    message: `Message rejected: ${TOO_LARGE}`,
    fix: 'Send a new message with some of the attachments, each by message_id and attachment_id.',
  })
}

/** The refusal of a draft with more attachments than a message can have. */
export function tooLarge(): ApiError {
  return new ApiError('message_rejected', {
    message: `Message rejected: The attachments of a draft may have ${LIMITS.send.fetchedBytes} bytes together, and be ${LIMITS.send.attachments}`,
    fix: 'Remove some of the attachments.',
  })
}
