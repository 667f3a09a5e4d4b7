/** How a terminal sets text apart; elsewhere it stays as it is. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
}
