/** A progress line on stderr, drawn only on a terminal and only where there is something to wait for. */

/** Done, and how many in all (0: unknown). */
export type ProgressBar = (done: number, total: number) => void

const WIDTH = 24

export function createProgress(stream: NodeJS.WriteStream) {
  let drawn = ''
  const clear = () => {
    if (drawn !== '') stream.write('\r\u001b[2K')
    drawn = ''
  }
  const bar =
    (label: string): ProgressBar =>
    (done, total) => {
      if (!stream.isTTY) return
      const share = total === 0 ? 0 : Math.min(1, done / total)
      const filled = Math.round(share * WIDTH)
      const line =
        total === 0
          ? `${label} ${done}`
          : `${label} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(share * 100)}% of ${total}`
      if (line === drawn) return
      stream.write(`\r\u001b[2K${line}`)
      drawn = line
    }
  return { bar, clear }
}
