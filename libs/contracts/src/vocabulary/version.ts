/** The version of this build: in the documents of the API, and in the `User-Agent` of outbound requests. */
export const VERSION = '0.2.0'
