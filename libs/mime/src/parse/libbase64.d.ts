/** The package brings no types. */
declare module 'libbase64' {
  const libbase64: {
    decode(text: string): Buffer
  }
  export default libbase64
}
