import { HOUR, KB, MB, MINUTE, SECOND } from './units.ts'

/** Limits of mail that comes in, is stored and found. */
export const mailInLimits = {
  /** Inbound mail (mail 13). */
  inbound: {
    bytes: 40 * MB,
    /** Answer of the owner about the recipients of one session; later 451. */
    recipientLookup: 5 * SECOND,
    /** DNS time of each step of sender authentication, and processor time of all of them together. */
    senderAuthentication: 2 * SECOND,
    senderAuthenticationCpu: 2 * SECOND,
    /** Mails that wait for DNS before their sender can be judged; further ones are stored as unauthenticated. */
    waiting: { perInbox: 100, all: 10_000, time: HOUR },
    /** Rates per hour; beyond them 451. One network gets a quarter of an inbox's and of an organization's. */
    networkMails: 20_000,
    networkBytes: 20_000 * MB,
    inboxMails: 2_000,
    organizationMails: 20_000,
    /** Mails to the operator per hour, of which one network gets a twentieth, and the size of one of them. */
    operatorMails: 500,
    operatorBytes: 10 * MB,
    parseMemoryMb: 256,
    parseTime: 5 * SECOND,
    /** Longest time for which slow mail holds up its inbox; then it is stored unparsed. */
    slowLane: 1 * MINUTE,
    attempts: 3,
    /** How long a mail that a list blocks waits for the owner of lists to confirm that. */
    listOwner: 5 * MINUTE,
    /** Ids that mails named and no message carries: those of one thread that are remembered, the newest (mail 13.1). */
    rememberedIds: 20,
  },
  /**
   * How much of one received mail is parsed; content beyond it is missing from its record, and kept in the raw mail.
   */
  mime: {
    /** Header block of one part. */
    headerBytes: 256 * KB,
    /** Header fields of one part. */
    headerFields: 1_000,
    /** Parts of the whole mail, containers included. */
    parts: 500,
    /** Levels of multipart inside multipart; a container below is one attachment. */
    depth: 30,
    /** Mailboxes of one address list. */
    addresses: 1_000,
    /** Ids of `References`; the newest are kept. */
    references: 200,
    /** Decoded text body and, apart from it, html body. */
    bodyBytes: 10 * MB,
    /** Longer bodies (characters) are kept whole as their own extraction, and searched by their beginning. */
    extractedText: 2 * MB,
    extractedHtml: 1 * MB,
    /** The same of text with more lines, each of which costs a parser more time and memory than its characters. */
    textLines: 100_000,
    /** The same of html with more tags, which cost far more than lines. */
    htmlTags: 60_000,
  },
  /** Plain text of attachments (mail 16). */
  document: {
    /** Larger attachments are not read. */
    bytes: 25 * MB,
    /** Attachments of one message that are read, the first. */
    perMessage: 20,
    /** Attempts at a document that ends its thread; then it is not read again. */
    attempts: 2,
    reading: {
      /** The text after as many characters is left out. */
      characters: 1_000_000,
      /** Of the parts that are read, of a document that is a package. */
      inflatedBytes: 200 * MB,
      members: 10_000,
      /** Levels of elements inside elements. */
      depth: 1_000,
    },
    /** Processor time of one document, and heap of the thread that reads it. */
    time: 10 * SECOND,
    memoryMb: 256,
  },
  /** Labels (mail 4.3). */
  labels: { perResource: 256, length: 256 },
  /**
   * A thread's senders, recipients and attachments are each truncated to the newest, in number and in bytes; they are
   * rebuilt from as many of its newest messages.
   */
  thread: {
    list: 1_000,
    listBytes: 128 * KB,
    messages: 1_000,
    messageBytes: 512 * KB,
    /** Labels of a thread with as many messages are not changed at once (mail 10). */
    relabelled: 100,
  },
  /** Search in mail (mail 17). */
  search: {
    text: { min: 1, max: 512 },
    words: 24,
    /** As many of the newest with a word in sender, recipients or subject rank before all others. Results that one page examines. */
    ranked: 2_000,
    /** Characters of one message's text that are searched, and of its senders, recipients and subject. */
    bodyText: 100_000,
    headerText: 20_000,
    /** Characters of the texts of one message's attachments that are searched, together. */
    documentText: 100_000,
    /** Terms by which one message is found; a text with more different words is found by its first. */
    terms: 10_000,
    /** Of these, terms that only its attachments have. */
    documentTerms: 5_000,
    highlights: 3,
    highlight: 160,
  },
  /** Stored messages (mail 5). */
  message: {
    preview: 200,
    downloadLink: 1 * HOUR,
    /** Ids of one batch request (mail 6.4, 7), and characters of one id. */
    batchGet: 500,
    batchUpdate: 50,
    id: 1_000,
  },
} as const
