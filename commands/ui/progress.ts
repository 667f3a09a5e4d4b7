/** Draws a progress line on stderr, only on a terminal and only while the user waits. */
// The spinner and the bar of @clack/prompts read standard input while they draw. Ctrl-C would then end the process
// with exit code 0 before it reports what was sent, and a piped list would be lost.
import type { Output } from '../cli/standard-output.ts'

/** Updates a progress bar; a `total` of 0 means that it is unknown. */
export type ProgressBar = (done: number, total: number) => void

const WIDTH = 24
const TURNS = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const TURN_MS = 80

export function createProgress(stream: Output, isAnimated: boolean) {
  let drawn = ''
  const clear = () => {
    if (drawn !== '') stream.write('\r\u001b[2K')
    drawn = ''
  }
  /** A line that the terminal wraps could not be erased, so it is cropped. */
  const draw = (line: string) => {
    stream.write(`\r\u001b[2K${line.slice(0, Math.max(1, (stream.columns ?? 80) - 1))}`)
    drawn = line
  }
  const bar =
    (label: string): ProgressBar =>
    (done, total) => {
      if (!isAnimated || !stream.isTTY) return
      const share = total === 0 ? 0 : Math.min(1, done / total)
      const filled = Math.round(share * WIDTH)
      const line =
        total === 0
          ? `${label} ${done}`
          : `${label} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(share * 100)}% of ${total}`
      if (line === drawn) return
      draw(line)
    }
  let spinner: { text: string; timer: NodeJS.Timeout } | undefined
  let turn = 0
  const waiting = (text: string | null) => {
    if (!isAnimated || !stream.isTTY) return
    if (text === null) {
      clearInterval(spinner?.timer)
      spinner = undefined
      clear()
      return
    }
    const turnOn = () => {
      draw(`${TURNS[turn++ % TURNS.length]} ${spinner?.text}`)
    }
    if (spinner !== undefined) spinner.text = text
    else spinner = { text, timer: setInterval(turnOn, TURN_MS).unref() }
    turnOn()
  }
  return { bar, clear, waiting }
}
