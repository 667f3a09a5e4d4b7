/** `npm run bench`: every figure as a ratio to a floor that is measured in the same run. */
import { daemons } from './daemons.ts'
import { limits } from './limits.ts'
import { localnet } from './localnet.ts'
import { merkle } from './merkle.ts'
import { requests } from './requests.ts'
import { scaling } from './scaling.ts'
import { startUp } from './start-up.ts'
import { tables } from './tables.ts'
import { transactions } from './transactions.ts'
import { webhooks } from './webhooks.ts'

interface Measurement {
  name: string
  ms: number
  ratio: number
  floor: string
}

const suites: Record<string, () => Promise<Measurement[]>> = {
  'start-up': startUp,
  daemons,
  limits,
  localnet,
  merkle,
  requests,
  scaling,
  tables,
  transactions,
  webhooks,
}

const wanted = process.argv.slice(2)
for (const [name, suite] of Object.entries(suites)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  process.stdout.write(`\n${name}\n`)
  for (const { name: what, ms, ratio, floor } of await suite()) {
    process.stdout.write(
      `  ${what.padEnd(52)} ${ms.toFixed(1).padStart(9)} ms  ${ratio.toFixed(2).padStart(7)} × ${floor}\n`,
    )
  }
}
