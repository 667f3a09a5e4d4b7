/** Gives the text styles of a terminal; elsewhere they leave text unchanged. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  yellow(text: string): string
}

const same = (text: string) => text
export const PLAIN: Paint = { bold: same, dim: same, red: same, yellow: same }

/** Loads the styles only if they are used, because their package opens standard output. */
export const loadPaint = async (isColored: boolean): Promise<Paint> =>
  isColored ? (await import('picocolors')).default.createColors(true) : PLAIN
