/** Commands with --squads, and votes and executions, that are killed at their requests: run again, each act is proposed and done once. */
import { spawn } from 'node:child_process'
import { PublicKey, SystemProgram } from '@solana/web3.js'
import { expect } from 'vitest'
import { compileTransaction } from '../../../src/solana/compiling.ts'
import { commandLine, type KeypairFile, PROGRAM } from '../../cli/command-line.ts'
import { type Served, serveHere } from '../../cli/served.ts'
import { V1_CONFIG } from '../../support/local-chain.ts'
import { mapped } from '../../support/mapped.ts'
import { keyOf } from '../../support/squads.ts'
import { lacksTreasury } from '../../support/treasury.ts'
import { startTrappingProxy, type Trap, type TrappingProxy } from '../trapping-proxy.ts'
import { killTest } from './harness.ts'

const cli = commandLine()
const [SUBMITS, LOOKS] = ['POST /v2/transactions', 'GET /v2/transactions']
const LAMPORTS = 2_000_000n
const MANY = 24

type Verb = 'send' | 'many' | 'approve' | 'execute'
interface Point {
  verb: Verb
  trap: Pick<Trap, 'when' | 'nth'> & { call: string }
  /** Ctrl-C instead of kill -9. */
  isInterrupt?: true
}
const point = (verb: Verb, call: string, when: Trap['when'], nth = 1): Point => ({ verb, trap: { call, when, nth } })
const interrupted = (point: Point): Point => ({ ...point, isInterrupt: true })

const POINTS: readonly Point[] = [
  point('send', 'POST /v2/sol-transfers', 'asked'),
  point('send', 'POST /v2/sol-transfers', 'answered'),
  point('send', 'POST /v2/transaction-simulations', 'answered'),
  point('send', SUBMITS, 'asked'),
  point('send', SUBMITS, 'answered'),
  point('send', LOOKS, 'asked'),
  point('send', LOOKS, 'answered'),
  point('send', 'GET /v2/proposals', 'answered'),
  interrupted(point('send', SUBMITS, 'asked')),
  interrupted(point('send', LOOKS, 'answered')),
  point('many', 'POST /v2/proposals', 'answered'),
  point('many', SUBMITS, 'asked'),
  point('many', SUBMITS, 'answered'),
  point('many', SUBMITS, 'asked', 2),
  point('many', SUBMITS, 'answered', 2),
  point('approve', SUBMITS, 'asked'),
  point('approve', SUBMITS, 'answered'),
  point('approve', LOOKS, 'answered'),
  point('execute', SUBMITS, 'asked'),
  point('execute', SUBMITS, 'answered'),
  point('execute', LOOKS, 'answered'),
]

/** Each act pays a recipient of its own, or many. */
interface Act {
  id: string
  recipients: string[]
}

async function start() {
  const [ada, ben, cy] = mapped(['ada', 'ben', 'cy'], (name) => cli.keypair(`${name}.json`))
  const daemon: Served = await serveHere(cli.dataDir, { SVC_PRIORITY_FEE: 'none' })
  for (const { address } of [ada, ben, cy]) await cli.json(['localnet', 'airdrop', address, '100'])
  const members = [ada, ben, cy].map(({ address }) => address).join(',')
  const { multisig, vault } = await cli.json([
    ...['multisig', 'create', '--member', members, '--threshold', '2', '-k', ada.file],
  ])
  await cli.json(['localnet', 'airdrop', vault, '50'])
  const proxy: TrappingProxy = await startTrappingProxy(daemon.url)
  const env = { ...cli.env, SVC_API: proxy.url, SVC_API_KEY: daemon.operator }
  const run = (args: string[]) => spawn(process.execPath, [PROGRAM, ...args, '--yes', '--json'], { cwd: cli.home, env })
  const ended = async (child: ReturnType<typeof run>) => {
    const said = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        said[stream] += text
      })
    }
    const code = await new Promise<number | null>((settle) => child.once('exit', settle))
    return { code, ...said }
  }
  const done = async (args: string[]) => {
    const { code, stdout, stderr } = await ended(run(args))
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(0)
    return JSON.parse(stdout)
  }
  const acts: Act[] = []
  const missed: string[] = []
  const lastNumber = async () => Number((await done(['multisig', 'show', multisig])).transaction_index)
  const someone = () => cli.keypair('someone.json').address

  const created = (recipients: string[]) => {
    const payer = keyOf(vault)
    const { transaction } = compileTransaction({
      payer,
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: recipients.map((to) =>
        SystemProgram.transfer({ fromPubkey: payer, toPubkey: keyOf(to), lamports: LAMPORTS }),
      ),
      config: V1_CONFIG,
      bytesOf: (key: PublicKey) => key.toBytes(),
    })
    return ['proposals', 'create', Buffer.from(transaction).toString('base64'), '--squads', multisig, '-k', ada.file]
  }
  const sends = (to: string) => ['wallet', 'send', to, '0.002', '--squads', multisig, '-k', ada.file]

  /**
   * Kills the command at the point. The trap is for the path of the call, whose end may be an id. Returns whether it was
   * too late.
   */
  async function killAt({ trap: { call, ...trap }, isInterrupt }: Point, args: string[]): Promise<boolean> {
    const child = run(args)
    const strike = () => void child.kill(isInterrupt ? 'SIGINT' : 'SIGKILL')
    proxy.arm({ ...trap, method: call, isPrefix: call.startsWith('GET ') }, strike)
    const { code, stderr } = await ended(child)
    proxy.disarm()
    if (code === 0) missed.push(`${args.slice(0, 2).join(' ')}: ${call}`)
    else expect([code, stderr]).toEqual(isInterrupt ? [130, expect.stringMatching(/svc tx|again/)] : [null, ''])
    return code === 0
  }

  async function kill(point: Point): Promise<void> {
    const recipients = Array.from({ length: point.verb === 'many' ? MANY : 1 }, someone)
    const propose = point.verb === 'many' ? created(recipients) : sends(recipients[0]!)
    const before = await lastNumber()
    const isProposing = point.verb === 'send' || point.verb === 'many'
    expect(isProposing && (await killAt(point, propose))).toBe(false)
    const { proposal } = await done(propose)
    expect([point, await lastNumber()]).toEqual([point, before + 1])
    acts.push({ id: proposal, recipients })
    const step = async (verb: 'approve' | 'execute', by: KeypairFile, isStruck: boolean) => {
      const args = ['proposals', verb, proposal, '-k', by.file]
      if (!isStruck) return done(args)
      await killAt(point, args)
      const { code, stderr } = await ended(run(args))
      // It is done already, and the command says so.
      if (code !== 0) expect(stderr).toMatch(verb === 'approve' ? /has approved|is approved/ : /is executed/)
    }
    await step('approve', ben, point.verb === 'approve')
    await step('approve', cy, false)
    await step('execute', cy, point.verb === 'execute')
  }

  return {
    ...{ proxy, daemon, acts, done, kill, killAt, lastNumber, multisig, vault, ada, someone },
    async carryOut(proposal: string) {
      for (const by of [ben, cy]) await done(['proposals', 'approve', proposal, '-k', by.file])
      await done(['proposals', 'execute', proposal, '-k', cy.file])
    },
    missed,
    lamports: async (address: string) => (await daemon.local()).account(address)?.lamports ?? 0n,
  }
}

killTest({
  title: `commands of a vault that are killed ${POINTS.length} times at their requests`,
  skip: lacksTreasury !== '',
  start,
  points: () => POINTS,
  kill: ({ kill }, point) => kill(point),
  async end({ proxy, daemon }) {
    await proxy.close()
    await daemon.stop()
  },
  holds: {
    async 'each act is paid once to the lamport'({ acts, lamports }) {
      expect(acts).toHaveLength(POINTS.length)
      for (const { recipients } of acts) {
        for (const each of recipients) expect([each, await lamports(each)]).toEqual([each, LAMPORTS])
      }
    },
    async 'each act has one number, and its proposal is executed'({ acts, done, lastNumber, multisig }) {
      expect(await lastNumber()).toBe(POINTS.length)
      const all = await done(['proposals', 'list', '--multisig', multisig, '--status', 'executed', '--limit', '100'])
      expect(all.map(({ id }: { id: string }) => id).sort()).toEqual(acts.map(({ id }) => id).sort())
    },
    'each kill meets its request'({ missed }) {
      expect(missed).toEqual([])
    },
    async 'a freeze whose command was killed after it landed is proposed again once it is undone'(world) {
      const { done, killAt, carryOut, someone, ada, multisig, vault } = world
      const texts = ['--name', 'Cold', '--symbol', 'CLD', '--uri', 'https://example.com/c.json', '--supply', '1']
      const own = ['-k', ada.file]
      const { mint } = await done(['tokens', 'create', ...texts, '--keep-freeze-authority', ...own])
      await done(['tokens', 'set-authority', mint, 'freeze', vault, '--allow-programs', ...own])
      const owner = someone()
      await done(['wallet', 'send', owner, '1', '--mint', mint, ...own])
      const by = ['--squads', multisig, ...own]
      const freeze = ['tokens', 'freeze', mint, '--from', cli.file('cold.csv', `${owner}\n`), ...by]
      expect(await killAt(point('send', 'GET /v2/proposals', 'answered'), freeze)).toBe(false)
      const waiting = await done(freeze)
      expect(waiting.rows).toMatchObject([{ status: 'waits' }])
      await carryOut(waiting.rows[0].proposals[0])
      await carryOut((await done(['tokens', 'thaw', mint, owner, ...by])).proposal)
      const [row] = (await done(freeze)).rows
      expect(row).toMatchObject({ status: 'proposed' })
      expect(await done(['proposals', 'show', row.proposals[0]])).toMatchObject({ status: 'active' })
    },
  },
})
