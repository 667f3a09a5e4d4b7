/** The text styles of a terminal; elsewhere they leave text unchanged. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
}
