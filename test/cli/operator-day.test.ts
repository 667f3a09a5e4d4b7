/** The second day of an operator: four causes at once, all found from `svc status` and from the list. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { Keypair } from '@solana/web3.js'
import { expect, it, onTestFinished } from 'vitest'
import type { AttentionItem } from '../../src/api/attention.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import { png } from '../storage/images.ts'
import { startDaemon } from '../support/daemon.ts'
import { TINY_CURVE } from '../support/launches.ts'
import { lackingPrograms } from '../support/pool-platform.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { commandLine, onTerminal } from './command-line.ts'

const COLUMNS = 80
const cli = commandLine()
const { json } = cli
const user = cli.keypair('user.json')
const platform = cli.keypair('platform.json')

/** A daemon as it ships, on a chain of its own; `advance` sets its clock ahead. */
async function openDaemon() {
  mkdirSync(cli.dataDir, { recursive: true })
  const clock = cli.file('clock', '0')
  const daemon = await startDaemon({
    dataDir: cli.dataDir,
    flags: ['--rpc-port', '0'],
    env: {
      NODE_ENV: 'test',
      SVC_TEST_CLOCK_FILE: clock,
      SVC_PROGRAMS_DIR: quickProgramsDir(),
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: platform.file,
      SVC_PRIORITY_FEE: 'none',
      SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
      SVC_POOLS_PRESETS: cli.file('presets.json', JSON.stringify({ tiny: TINY_CURVE })),
    },
  })
  onTestFinished(() => daemon.stop())
  return { advance: (ms: number) => writeFileSync(clock, String(ms)) }
}

/** Nobody migrates it: `pools.crank` is off. */
async function fullPool(): Promise<string> {
  const logo = join(cli.home, 'token.png')
  writeFileSync(logo, png())
  const texts = ['--name', 'Test', '--symbol', 'FULL', '--image', logo, '--preset', 'tiny']
  const { address } = await json(['pools', 'create', ...texts, '-k', user.file])
  await json(['pools', 'swap', address, '--buy', '5', '-k', user.file])
  return address
}

async function waitingApproval(): Promise<string> {
  const ada = cli.keypair('ada.json')
  await json(['approvers', 'add', ada.address, 'Ada', '--yes'])
  const ceiling = ['--approved-per-transaction', '1', '--approved-per-day', '2']
  await json(['signer', 'policy', '--approvals', '1', ...ceiling, '--yes'])
  const { stdout, stderr } = await cli.svc(['signer', 'test', '--submit', '--yes'])
  const [id] = /prp_\w+/.exec(stdout) ?? []
  expect(id, stderr).toBeDefined()
  return id as string
}

/** Two payments of more than half of a wallet: the second one fails on chain. */
async function failedTransaction(): Promise<string> {
  const payer = cli.keypair('payer.json')
  await json(['localnet', 'airdrop', payer.address, '5'])
  const build = (to: string) => json(['wallet', 'send', to, '3', '--payer', payer.address, '--build-only'])
  const built = [await build(user.address), await build(Keypair.generate().publicKey.toBase58())]
  const signed = built.map((one, n) => cli.file(`payment-${n}.json`, JSON.stringify(one)))
  for (const file of signed) {
    const one = await json(['tx', 'sign', `@${file}`, '-k', payer.file, '--yes'])
    writeFileSync(file, JSON.stringify(one))
  }
  await json(['tx', 'submit', `@${signed[0]}`])
  const failed = await cli.svc(['tx', 'submit', `@${signed[1]}`, '--skip-preflight', '--json'])
  expect(failed.exitCode).not.toBe(0)
  const [{ signature }] = await json(['tx', 'list', '--lifecycle', 'failed'])
  return signature
}

async function deadReceiver(): Promise<string> {
  const { id } = await json(['webhooks', 'create', 'http://127.0.0.1:9/hooks', '--events', 'webhook.test_event'])
  await json(['webhooks', 'test', id])
  return id
}

it.skipIf(lackingPrograms.length > 0)(
  `svc status names all that waits for a person (${lackingPrograms.join(', ')})`,
  async () => {
    const { advance } = await openDaemon()
    for (const { address } of [user, platform]) await json(['localnet', 'airdrop', address, '100'])
    const made = {
      pool_full: await fullPool(),
      transaction_failed: await failedTransaction(),
      receiver_failing: await deadReceiver(),
      approval_waits: await waitingApproval(),
    }
    advance(11 * MINUTE_MS)
    const kinds = Object.keys(made)
    const listed = async () => {
      const items: AttentionItem[] = await json(['attention', 'list'])
      return Object.fromEntries(
        items.filter(({ kind }) => kinds.includes(kind)).map(({ kind, subject }) => [kind, subject.id]),
      )
    }
    await expect.poll(listed, { timeout: 60_000, interval: 500 }).toEqual(made)

    const { exitCode, screen } = await onTerminal(cli, ['status'], [], COLUMNS)
    expect(exitCode, screen).toBe(0)
    const lines = stripVTControlCharacters(screen).split(/\r?\n/)
    // A signature is longer than the line, and is not broken.
    const wide = lines.filter((line) => line.length > COLUMNS)
    expect(wide.filter((line) => !line.includes(made.transaction_failed))).toEqual([])
    const text = lines.join(' ').replace(/\s+/g, ' ')
    expect(text).toContain(`\`svc pools migrate ${made.pool_full}\``)
    expect(text).toContain(`\`svc tx get ${made.transaction_failed}\``)
    expect(text).toContain(`\`svc webhooks deliveries ${made.receiver_failing}\``)
    expect(text).toContain(`svc proposals approve ${made.approval_waits}`)
  },
)
