/**
 * Files of packages that no process of ours reads: half of what the package manager installs. Of packages that bring a copy
 * of themselves for every kind of runtime, the copy that is imported stays.
 */
const UNUSED = [
  /\.map$/,
  /\.d\.[cm]?ts$/,
  // Licenses stay in every format, because a package may only be passed on with its license.
  /\/(?!licen[cs]e|copying|notice)[^/]*\.(md|markdown)$/i,
  /\/@prisma\/client\/runtime\/(?!client\.js$|query_compiler_fast_bg\.postgresql\.(wasm-base64\.)?mjs$)/,
  /\/@prisma\/client\/scripts\//,
  /\/bintrees\/test\//,
  /\/pdfjs-dist\/(build|image_decoders|types|web)\//,
  /\/pdfjs-dist\/legacy\/(image_decoders|web)\//,
  /\/pdfjs-dist\/legacy\/build\/[^/]*(\.min|sandbox)/,
  /\/swagger-ui-dist\/(?!swagger-ui\.css$|swagger-ui-bundle\.js$|package\.json$|licen[cs]e|notice|[^/]*bundle\.js\.license)/i,
]

/** Whether an image does without a file. The path has slashes and contains the `node_modules` folder of the package. */
export const isUnused = (file: string): boolean => UNUSED.some((pattern) => pattern.test(file))
