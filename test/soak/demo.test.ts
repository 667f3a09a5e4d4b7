/** An empty program cache: `npm run demo` without a cluster, and a launch that fetches the programs. package.test.ts fills it. */
import { mkdtempSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { openServer } from '../chain/serving.ts'
import { commandLine, onTerminal } from '../cli/command-line.ts'
import { png } from '../storage/images.ts'
import { freePort } from '../support/ports.ts'
import { hasProgram } from '../support/programs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { configureSolanaCli } from '../support/solana-cli.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const home = makeSharedFolder('svc-demo-')
const lacksPrograms = Object.values(PROGRAMS).some(({ id }) => !hasProgram(id))
const cli = commandLine()
let server: Awaited<ReturnType<typeof openServer>>
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.stop())

/** The cache stays empty until the demo fills it. */
async function demo(cluster: string) {
  const own = mkdtempSync(join(home, 'home-'))
  // The demo never works on the cluster of the Solana CLI.
  configureSolanaCli(own)
  const { exitCode, stdout } = await execa(process.execPath, ['--import', 'tsx', 'examples/demo/run.ts'], {
    env: { PATH: process.env.PATH, HOME: own, TMPDIR: own, NO_COLOR: '1', SVC_DEMO_CLUSTER: cluster },
    extendEnv: false,
    reject: false,
    cwd: ROOT,
  })
  return { exitCode, shown: stdout }
}

describe('the demo with an empty program cache', () => {
  it('says that the launch is left out, why, and which command brings it, where no cluster answers', async () => {
    const cluster = `http://127.0.0.1:${await freePort()}`
    const { exitCode, shown } = await demo(cluster)
    expect(exitCode, shown).toBe(0)
    const pull = 'node dist/svc.js localnet pull'
    const lines =
      `– the launch on a bonding curve, the main job, is left out: nothing could be pulled from ${new URL(cluster).host}: the RPC node cannot be reached (ECONNREFUSED); a folder of another machine is read with --from DIR\n` +
      `  ${pull} --url ${cluster}, or ${pull} --from FOLDER (from another machine), brings it; then run the demo again`
    expect(shown.split(lines), shown).toHaveLength(3)
    expect(shown.trimEnd().endsWith(lines)).toBe(true)
    for (const step of [
      'svc pools preview: the built-in preset with a first buy of 0.5 SOL',
      'the transactions of this launch, built and decoded whole',
      "an airdrop's tree and claim page, with a wallet looked up",
    ]) {
      expect(shown).toContain(`✔ ${step} (computed here, not executed)`)
    }
    expect(shown).toMatch(/SOL for one token[\s\S]*Migrates at [\d.]+ SOL a token/)
    expect(shown).toMatch(/initialize_virtual_pool_with_spl_token/i)
  }, 120_000)
})

describe.skipIf(lacksPrograms)('svc pools create on an embedded chain without programs', () => {
  const create = ['pools', 'create', '--name', 'First', '--symbol', 'FST', '-k', 'wallet.json']
  beforeAll(async () => {
    cli.file('logo.png', png())
    const { address } = await cli.json(['localnet', 'wallet', 'wallet.json'])
    cli.env.SVC_PLATFORM_WALLET = address
  })

  it('names the command that fetches them, if no person can be asked', async () => {
    const sentence = 'fill the program cache with `svc localnet pull`'
    await cli.refused([...create, '--image', 'logo.png', '--yes'], sentence, 1)
  })

  it('asks a person for a cluster, fetches them, and launches', async () => {
    const { exitCode, screen } = await onTerminal(
      cli,
      [...create, '--image', 'logo.png'],
      [['Cluster or RPC URL to fetch from', `${server.url}\r`]],
    )
    expect(screen).toMatch(/Meteora DBC: \d+ bytes, SHA-256 [0-9a-f]{64}/)
    expect(exitCode, screen).toBe(0)
  }, 60_000)
})
