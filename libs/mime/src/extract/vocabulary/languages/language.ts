/**
 * The words of one language in which clients write attributions, headers, forwards and signatures. Lower case, as `foldLine` writes them;
 * `|` separates alternatives.
 */
export interface Language {
  /** Ahead of the date of an attribution: `on` of "On Tuesday Bo wrote". */
  readonly on?: string
  /** The verb of an attribution. */
  readonly wrote?: string
  /** Ahead of a name where no verb follows: `quoting`. */
  readonly quoting?: string
  /** Labels of a quoted header. */
  readonly from?: string
  readonly sent?: string
  /** The label of a date that other lists have too. */
  readonly date?: string
  readonly to?: string
  readonly subject?: string
  /** Between dashes above a quoted message. */
  readonly original?: string
  /** Between dashes above a forwarded message. */
  readonly forwarded?: string
  /** The line with which Apple's clients begin a forwarded message, without its colon. */
  readonly forwardBegins?: string
  /** What a ticket system asks for on the line below which it quotes. */
  readonly replyAbove?: string
  /** The same in fewer words, on a line that is marked. */
  readonly aboveLine?: string
  /** What a device's signature says with its product: `sent from`. */
  readonly signed?: string
  /** Devices that have no name: `phone`. */
  readonly device?: string
  /** Other words that a device's signature may hold: `my`. */
  readonly signedWith?: string
  /** The line above a name at the end of a letter. */
  readonly closing?: string
  /** What a disclaimer speaks of. */
  readonly message?: string
  /** What only a disclaimer or a virus scanner says. */
  readonly footer?: string
  /** What a list says in its footer, where it is next to a link or an address. */
  readonly list?: string
  /** What companies print at the end of their mail; people write one of these, but not two. */
  readonly company?: string
}
