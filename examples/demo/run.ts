/** `npm run demo`: the main jobs of svc on real input, every step checked; exit 0 only if all of them hold. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import pc from 'picocolors'
import { airdrop } from './airdrop.ts'
import { computed } from './computed.ts'
import { gold, makeGold } from './gold.ts'
import { keysAndLimits } from './keys-and-limits.ts'
import { launch } from './launch.ts'
import { merkleTree } from './merkle-tree.ts'
import { nft } from './nft.ts'
import { type Daemon, startDaemon, svc } from './program.ts'
import { fillProgramCache } from './programs.ts'
import { raise } from './raise.ts'
import { Report } from './report.ts'
import { token } from './token.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'svc-demo-'))
const report = new Report()
const root = resolve(import.meta.dirname, '../..')

report.title(
  'svc: a CSV becomes a merkle tree, stored, served and proven; a token is made, another launched,\n  one airdropped, NFTs minted and staked, gold locked,\n  a raise settled',
)
let daemon: Daemon | undefined
process.exitCode = 1
try {
  const place = { root, dataDir, report }
  const isComplete = await fillProgramCache(place)
  // `svc serve` does not start without the file of its platform wallet.
  await svc(place, 'localnet', 'wallet', join(dataDir, 'platform.json'), '1')
  const running = await startDaemon({ ...place, env: { SVC_GOLD_MINT: await makeGold(place) } })
  daemon = running
  await merkleTree({ root, daemon, report })
  await keysAndLimits({ daemon, report })
  await token({ dataDir, daemon, report })
  if (!isComplete) await computed({ dataDir, daemon, report })
  await launch({ dataDir, daemon, report })
  await airdrop({ dataDir, daemon, report })
  await nft({ dataDir, daemon, report })
  await gold({ dataDir, daemon, report })
  await raise({ dataDir, daemon, report })
  await report.step('the daemon stops in order', async () => {
    const code = await running.stop()
    report.expect(code === 0, `exit code ${code}`)
    return 'exit code 0'
  })
  process.exitCode = report.summary() ? 0 : 1
} catch (error) {
  process.stdout.write(`\n${pc.red('The demo failed:')} ${error instanceof Error ? error.message : String(error)}\n`)
} finally {
  await daemon?.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
