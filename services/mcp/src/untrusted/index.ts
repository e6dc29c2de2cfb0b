export { type BodyReader, type BodyThreads, createBodyThreads } from './body-reader.ts'
export { Fence } from './fence.ts'
export {
  type Bodies,
  type BodyOptions,
  type BodySource,
  MAX_BODY_CHARS,
  type ShownBody,
  shownBody,
} from './shown-body.ts'
export { MAX_LINE_CHARS, shownLine } from './shown-line.ts'
export { type Shown, shownText, showText } from './shown-text.ts'
