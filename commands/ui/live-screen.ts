/** Draws lines on a terminal that change in place. */
import type { Output } from '../cli/standard-output.ts'
import { cutToWidth } from './columns.ts'
import { drawingWidth } from './curve.ts'

/** A block of lines on a terminal; each drawing replaces the previous one. */
export function liveScreen(stream: Output) {
  let height = 0
  const up = () => (height === 0 ? '' : `\u001b[${height}A\r\u001b[J`)
  return {
    draw(lines: readonly string[]) {
      // A wrapped line would count as one, and its second part would not be erased.
      const cut = lines.map((line) => cutToWidth(line, Math.max(1, drawingWidth(stream) - 1)))
      stream.write(`${up()}${cut.join('\n')}\n`)
      height = cut.length
    },
    end() {
      height = 0
    },
  }
}
