export class Fence {
  readonly notice = 'x'
  around(text: string): string {
    return text
  }
}
