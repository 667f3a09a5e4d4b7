/** `svc signer`: the platform wallet, its policy, and the switch that pauses it. */
import { paths } from '../src/api/paths.ts'
import type { SignerState } from '../src/api/signer.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from './cli/amounts.ts'
import { type CommandOutcome, listOf, type Noun, text, toggle, verb } from './cli/command.ts'
import type { SettingRow } from './cli/session.ts'
import { confirmOn } from './signing/confirm.ts'
import { TX_VERSION, txVersionField } from './signing/flags.ts'
import { fieldLines } from './ui/field-lines.ts'
import { usage } from './ui/problem.ts'
import { zonedTime } from './ui/times.ts'

const signerPaths = paths.signer
type PolicyInForce = NonNullable<SignerState['policy']>
type TokenLimit = PolicyInForce['tokens'][number]

export const signerNoun: Noun = {
  aliases: { get: 'status' },
  verbs: {
    status: verb({
      about: 'Show the signer, its policy and what it spent in 24 hours',
      calls: [signerPaths.get],
      examples: ['svc signer status', 'svc signer status --json'],
      async run(_, { client, settings }) {
        const { data } = await client.signer.get()
        return signerOutcome(data, daemonDifferences(data, await settings.list()))
      },
    }),
    address: verb({
      about: 'Print the address of the platform wallet',
      calls: [signerPaths.get],
      examples: ['svc signer address', 'svc signer address -o plain'],
      async run(_, { client }) {
        const { address } = (await client.signer.get()).data
        if (address === null) throw usage('no signer is configured', { next: 'svc config set signer keypair' })
        return { data: { address }, rows: { columns: ['address'], rows: [[address]] }, text: address }
      },
    }),
    test: verb({
      about: 'Let the provider sign a text that cannot be a transaction',
      details:
        'With --submit a memo is signed and submitted: it costs a fee, and the policy must let it pass like any other.',
      calls: [signerPaths.test],
      flags: {
        submit: toggle('Sign and submit a memo instead'),
        memo: text('Text of the memo'),
        tx_version: TX_VERSION,
      },
      examples: ['svc signer test', 'svc signer test --submit --memo "monthly check"'],
      async run({ submit, memo, tx_version }, session) {
        const { client } = session
        if (submit) await confirmOn(session, 'Sign a memo and submit it', await session.cluster())
        const { data } = await client.signer.test({
          submit,
          ...txVersionField({ tx_version }),
          ...(memo === undefined ? {} : { memo }),
        })
        const { provider, address, duration_ms, signature } = data
        if (signature === null) return { data, text: `${provider} signed for ${address} in ${duration_ms} ms.` }
        const notes = [`Follow it: svc tx watch ${signature}`]
        return { data, text: `${provider} signed for ${address}; submitted ${signature}.`, notes }
      },
    }),
    pause: verb({
      about: 'Stop signing at once',
      calls: [signerPaths.pause],
      flags: { reason: text('Reason, shown to refused callers') },
      examples: ['svc signer pause', 'svc signer pause --reason "key rotation"'],
      async run({ reason }, { client }) {
        return signerOutcome((await client.signer.pause(reason === undefined ? {} : { reason })).data)
      },
    }),
    resume: verb({
      about: 'Sign again',
      calls: [signerPaths.resume],
      examples: ['svc signer resume', 'svc signer resume --json'],
      async run(_, { client, ui }) {
        await ui.confirm('Let the signer sign again?')
        return signerOutcome((await client.signer.resume()).data)
      },
    }),
    policy: verb({
      about: 'Change what the signer may sign; without flags, show it',
      details: 'Rules without a flag stay as they are. Until a limit is set, nothing may leave the platform wallet.',
      calls: [signerPaths.get, signerPaths.updatePolicy],
      flags: {
        per_transaction: text('Most SOL that leaves in one transaction, fee and rent included', { placeholder: 'SOL' }),
        per_day: text('Most SOL that leaves in any 24 hours', { placeholder: 'SOL' }),
        max_fee: text('Largest fee of one transaction', { placeholder: 'SOL' }),
        token: listOf('Limits of a mint in raw units; 0:0 takes it off the list', { placeholder: 'MINT:TX:DAY,…' }),
        destinations: listOf('Wallets that may receive, or any', { placeholder: 'ADDR,…' }),
        programs: listOf('Programs that may be invoked', { placeholder: 'ADDR,…' }),
      },
      examples: ['svc signer policy --per-transaction 0.5 --per-day 2', 'svc signer policy --destinations any'],
      async run(input, { client, ui }) {
        const { data } = await client.signer.get()
        const changes = policyChanges(input, data.policy)
        if (Object.keys(changes).length === 0) return signerOutcome(data)
        await ui.confirm(`Change the policy of ${data.address}: ${Object.keys(changes).join(', ')}?`)
        return signerOutcome((await client.signer.updatePolicy(changes)).data)
      },
    }),
    reset: verb({
      about: 'Reset the daily count',
      calls: [signerPaths.reset],
      examples: ['svc signer reset', 'svc signer reset --yes'],
      async run(_, { client, ui }) {
        await ui.confirm('Reset the daily count? What was spent until now no longer counts.')
        return signerOutcome((await client.signer.reset()).data)
      },
    }),
  },
}

interface PolicyFlags {
  per_transaction?: string | undefined
  per_day?: string | undefined
  max_fee?: string | undefined
  token?: readonly string[] | undefined
  destinations?: readonly string[] | undefined
  programs?: readonly string[] | undefined
}

function policyChanges(flags: PolicyFlags, policy: PolicyInForce | null) {
  const lamports = (sol: string | undefined, shown: string) =>
    sol === undefined ? undefined : String(rawUnits(sol, LAMPORT_DECIMALS, shown))
  const { destinations, programs, token } = flags
  const changes = {
    lamports_per_transaction: lamports(flags.per_transaction, '--per-transaction'),
    lamports_per_day: lamports(flags.per_day, '--per-day'),
    max_fee_lamports: lamports(flags.max_fee, '--max-fee'),
    destinations: destinations?.join() === 'any' ? null : destinations && [...destinations],
    programs: programs && [...programs],
    tokens: token && tokenLimits(policy?.tokens ?? [], token),
  }
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

/** The current limits, in which new limits replace those of the same mint. */
function tokenLimits(current: readonly TokenLimit[], items: readonly string[]): TokenLimit[] {
  const limits = new Map(current.map((limit) => [limit.mint, limit]))
  for (const item of items) {
    const [mint, per_transaction = '', per_day = '', more] = item.split(':')
    const whole = [per_transaction, per_day].every((units) => /^\d+$/.test(units))
    if (!mint || !whole || more !== undefined) {
      throw usage(`--token must be MINT:UNITS_PER_TRANSACTION:UNITS_PER_DAY in raw units, not "${item}"`, {
        param: '--token',
      })
    }
    limits.delete(mint)
    const none = [per_transaction, per_day].every((units) => BigInt(units) === 0n)
    if (!none) limits.set(mint, { mint, per_transaction, per_day })
  }
  return [...limits.values()]
}

/**
 * The differences between the settings of a running daemon and the local ones; those of a remote daemon are unknown.
 */
function daemonDifferences({ provider, address, cluster }: SignerState, settings: readonly SettingRow[]): string[] {
  const configured = (name: string) => settings.find((row) => row.name === name)?.value ?? null
  if (configured('api') !== null) return []
  const pairs = [
    ['signer', provider, configured('signer')],
    ['signer.cluster', cluster, configured('signer.cluster')],
    ['signer.public-key', address, configured('signer.public-key') ?? address],
  ] as const
  const other = pairs.filter(([, runs, expected]) => runs !== expected)
  if (other.length === 0) return []
  const differences = other.map(([name, runs, expected]) => `${name} ${runs ?? 'none'}, configured is ${expected}`)
  return [`The daemon runs with ${differences.join('; ')}: it reads its settings when it starts, so start it again.`]
}

function signerOutcome(data: SignerState, differences: readonly string[] = []): CommandOutcome {
  const { provider, address, cluster, policy, spent } = data
  if (policy === null || spent === null) {
    return {
      data,
      text: 'No signer is configured: `mode: signed` is refused.',
      notes: differences.length > 0 ? differences : ['Set one up: svc config set signer keypair (docs/signer.md)'],
    }
  }
  const left = BigInt(policy.lamports_per_day) - BigInt(spent.lamports)
  const rows: [string, string][] = [
    ['provider', provider],
    ['address', address ?? '-'],
    ['signs for', cluster === 'any' ? 'any cluster' : cluster],
    ['paused', policy.paused ? `yes${policy.paused_reason === null ? '' : `: ${policy.paused_reason}`}` : 'no'],
    [
      'per transaction',
      `${lamportsText(policy.lamports_per_transaction)}, of which at most ${lamportsText(policy.max_fee_lamports)} are fee`,
    ],
    [
      'per day',
      `${lamportsText(policy.lamports_per_day)}, ${lamportsText(spent.lamports)} spent since ${zonedTime(spent.since)}, ${solOf(left > 0n ? left : 0n)} SOL left`,
    ],
    ...policy.tokens.map((limit): [string, string] => {
      const gone = spent.tokens.find(({ mint }) => mint === limit.mint)?.amount ?? '0'
      return [`token ${limit.mint}`, `${limit.per_transaction} a transaction, ${limit.per_day} a day, ${gone} spent`]
    }),
    ['destinations', policy.destinations === null ? 'any' : policy.destinations.join(' ') || 'none'],
    ['programs', policy.programs.join(' ') || 'none'],
  ]
  return {
    data,
    text: fieldLines(rows).join('\n'),
    notes: [
      ...differences,
      ...(policy.lamports_per_transaction === '0' || policy.lamports_per_day === '0'
        ? ['Nothing may leave yet: svc signer policy --per-transaction 0.5 --per-day 2']
        : []),
    ],
  }
}

const lamportsText = (lamports: string) => `${solOf(BigInt(lamports))} SOL`
