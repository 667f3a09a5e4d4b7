/** A process of its own that prints how many times dearer a table of four times the rows is, at the width it is given. */
import { PLAIN } from '../../commands/ui/paint.ts'
import { tableLines } from '../../commands/ui/table.ts'
import { walletOf } from '../merkle/reference.ts'

const [width, bound] = process.argv.slice(2).map(Number) as [number, number]
const wallet = walletOf(0)

/** Processor time, which what else the machine does does not count for; garbage of earlier tables does not count. */
function cost(count: number): number {
  const rows = Array.from({ length: count }, (_, i) => ['~', wallet, String(i), `${i} of a text that is broken`])
  globalThis.gc?.()
  const start = process.cpuUsage()
  const lines = tableLines(['', 'WALLET', 'AFTER', 'NOTE'], rows, width, PLAIN)
  const { user } = process.cpuUsage(start)
  if (lines === null || lines.length <= count) throw new Error('not every row is there')
  return user
}

// Compiled before it is measured.
cost(32_000)
let [few, many] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
// The least of each, in turns: a machine that is busy makes rounds dearer, never cheaper.
for (let round = 0; round < 12 && (round < 5 || many / few >= bound); round++) {
  few = Math.min(few, cost(8_000))
  many = Math.min(many, cost(32_000))
}
process.stdout.write(`${many / few}`)
