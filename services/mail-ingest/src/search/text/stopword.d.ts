/** The words that are most frequent in a language, by ISO 639-3 code. */
declare module 'stopword' {
  type Words = readonly string[]
  export const ara: Words
  export const dan: Words
  export const nld: Words
  export const eng: Words
  export const fin: Words
  export const fra: Words
  export const deu: Words
  export const ell: Words
  export const hun: Words
  export const ind: Words
  export const gle: Words
  export const ita: Words
  export const lit: Words
  export const nob: Words
  export const por: Words
  export const porBr: Words
  export const ron: Words
  export const rus: Words
  export const spa: Words
  export const swe: Words
  export const tur: Words
  export const ukr: Words
  export const hye: Words
  export const bul: Words
}
