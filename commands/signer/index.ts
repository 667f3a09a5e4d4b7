/** `svc signer`: the platform wallet, its policy, and the switch that pauses it. */
import { paths } from '../../src/api/paths.ts'
import type { SignerState } from '../../src/api/signer.ts'
import { isAddress } from '../../src/solana/addresses.ts'
import { groupedDecimalOf, solText } from '../../src/solana/amounts.ts'
import { programName } from '../../src/solana/programs.ts'
import { HOLDER_POWERS, type HolderPower } from '../../src/solana/token-authorities.ts'
import { LAMPORT_DECIMALS, rawUnits } from '../cli/amounts.ts'
import { type CommandOutcome, choiceOf, listOf, type Noun, text, toggle, verb } from '../cli/command.ts'
import type { Session, SettingRow } from '../cli/session.ts'
import { confirmOn } from '../signing/confirm.ts'
import { GUARD, GUARD_MEANINGS, GUARDS, type TermsFlags, TX_VERSION, termsField } from '../signing/flags.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import {
  APPROVAL_FLAGS,
  type ApprovalFlags,
  approvalChanges,
  approvalFields,
  type TokenLimit,
  tokenLimitOf,
} from './approvals.ts'

// The rules of the platform wallet: what flags change about them, and old and new values in words.

type PolicyInForce = NonNullable<SignerState['policy']>
type PolicyChanges = Partial<
  Pick<
    PolicyInForce,
    | 'lamports_per_transaction'
    | 'lamports_per_day'
    | 'max_fee_lamports'
    | 'destinations'
    | 'programs'
    | 'tokens'
    | 'powers'
    | 'guards'
    | 'approvals'
  >
>

interface PolicyFlags extends ApprovalFlags {
  per_transaction?: string | undefined
  per_day?: string | undefined
  max_fee?: string | undefined
  token?: readonly string[] | undefined
  destinations?: readonly string[] | undefined
  programs?: readonly string[] | undefined
  powers?: readonly string[] | undefined
  guards?: NonNullable<TermsFlags['guard']> | undefined
}

/** The fields of a request that the flags change. */
function policyChanges(flags: PolicyFlags, policy: PolicyInForce | null): PolicyChanges {
  const lamports = (sol: string | undefined, shown: string) =>
    sol === undefined ? undefined : String(rawUnits(sol, LAMPORT_DECIMALS, shown))
  const { destinations, programs, powers, token, guards } = flags
  const changes = {
    lamports_per_transaction: lamports(flags.per_transaction, '--per-transaction'),
    lamports_per_day: lamports(flags.per_day, '--per-day'),
    max_fee_lamports: lamports(flags.max_fee, '--max-fee'),
    destinations: destinations?.join() === 'any' ? null : destinations && addressesOf('--destinations', destinations),
    programs: programs && addressesOf('--programs', programs),
    powers: powers && powersOf(powers),
    guards: guards === 'when-it-fits' ? ('when_it_fits' as const) : guards,
    tokens: token && tokenLimits(policy?.tokens ?? [], token),
    approvals: approvalChanges(flags, policy?.approvals ?? null),
  }
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

/** The current limits, in which new limits replace those of the same mint. */
function tokenLimits(current: readonly TokenLimit[], items: readonly string[]): TokenLimit[] {
  const limits = new Map(current.map((limit) => [limit.mint, limit]))
  for (const item of items) {
    const limit = tokenLimitOf(item, '--token')
    limits.delete(limit.mint)
    const none = [limit.per_transaction, limit.per_day].every((units) => BigInt(units) === 0n)
    if (!none) limits.set(limit.mint, limit)
  }
  return [...limits.values()]
}

/** Amounts of tokens with their symbols; raw units of a mint that cannot be read. */
interface ShownTokens {
  amount(mint: string, raw: string): string
}

/** Reads what is needed to show the limits. A policy can be read and changed without the chain. */
async function shownTokens({ client }: Session, limits: readonly TokenLimit[]): Promise<ShownTokens> {
  const mints = [...new Set(limits.map(({ mint }) => mint))]
  const answer = mints.length === 0 ? null : await client.tokens.batchFetch({ mints }).catch(() => null)
  const labels = new Map((answer?.data.tokens ?? []).flatMap((label) => (label === null ? [] : [[label.mint, label]])))
  return {
    amount(mint, raw) {
      const label = labels.get(mint)
      if (label === undefined) return `${groupedDecimalOf(BigInt(raw), 0)} raw units`
      return `${groupedDecimalOf(BigInt(raw), label.decimals)} ${label.symbol === null ? 'tokens' : printable(label.symbol)}`
    },
  }
}

const limitText = ({ mint, per_transaction, per_day }: TokenLimit, shown: ShownTokens): string =>
  `${shown.amount(mint, per_transaction)} a transaction, ${shown.amount(mint, per_day)} a day`

/** Names of authorities, or `none`. */
/** The list, if each item is an address. */
function addressesOf(flag: string, all: readonly string[]): string[] {
  const at = all.findIndex((each) => !isAddress(each))
  if (at < 0) return [...all]
  throw usage(`${flag}${all.length === 1 ? '' : ` item ${at + 1}`}: must be a base58 address`, { param: flag })
}

function powersOf(names: readonly string[]): HolderPower[] {
  if (names.join() === 'none') return []
  const unknown = names.find((name) => !HOLDER_POWERS.some((power) => power === name))
  if (unknown === undefined) return HOLDER_POWERS.filter((power) => names.includes(power))
  throw usage(`--powers does not know "${unknown}"`, {
    param: '--powers',
    next: `use ${HOLDER_POWERS.join(', ')} or none`,
  })
}

const powersText = (powers: readonly HolderPower[]): string => powers.join(', ') || 'none'

/** An older API has no such rule. */
const guardsText = ({ guards }: Pick<PolicyChanges, 'guards'>): string =>
  (guards ?? 'when_it_fits').replaceAll('_', '-')

const programText = (id: string): string => programName(id) ?? id

const destinationsText = (wallets: readonly string[] | null): string =>
  wallets === null ? 'any' : wallets.join(' ') || 'none'

type Field = readonly [name: string, value: string]

/** Old and new value of each rule that was named: `per day  2 SOL → 5 SOL`. */
function changedRules(policy: PolicyInForce, changes: PolicyChanges, shown: ShownTokens): string[] {
  const { destinations, programs, tokens } = changes
  const fields: Field[] = [
    ...solRule('per transaction', policy.lamports_per_transaction, changes.lamports_per_transaction),
    ...solRule('per day', policy.lamports_per_day, changes.lamports_per_day),
    ...solRule('fee at most', policy.max_fee_lamports, changes.max_fee_lamports),
    ...(tokens === undefined ? [] : tokenRules(policy.tokens, tokens, shown)),
    ...(destinations === undefined
      ? []
      : [changeField('destinations', destinationsText(policy.destinations), destinationsText(destinations))]),
    ...(programs === undefined ? [] : programRules(policy.programs, programs)),
    ...(changes.powers === undefined
      ? []
      : [changeField('powers', powersText(policy.powers), powersText(changes.powers))]),
    ...(changes.guards === undefined ? [] : [changeField('guards', guardsText(policy), guardsText(changes))]),
    ...(changes.approvals === undefined ? [] : approvalRules(policy.approvals, changes.approvals)),
  ]
  return fieldLines(fields).map((line) => `  ${line}`)
}

/** Limits of a transaction above those of a day: the day's is the one that counts. */
function limitWarnings(policy: PolicyInForce, changes: PolicyChanges, shown: ShownTokens): string[] {
  const { lamports_per_transaction, lamports_per_day, tokens } = { ...policy, ...changes }
  const above = (name: string, each: string, day: string) =>
    `${name}: ${each} per transaction is more than the ${day} of a day, which counts`
  return [
    ...(BigInt(lamports_per_transaction) > BigInt(lamports_per_day)
      ? [above('SOL', solText(lamports_per_transaction), solText(lamports_per_day))]
      : []),
    ...tokens
      .filter(({ per_transaction, per_day }) => BigInt(per_transaction) > BigInt(per_day))
      .map(({ mint, per_transaction, per_day }) =>
        above(mint, shown.amount(mint, per_transaction), shown.amount(mint, per_day)),
      ),
  ]
}

const solRule = (name: string, before: string, after: string | undefined): Field[] =>
  after === undefined ? [] : [changeField(name, solText(before), solText(after))]

const changeField = (name: string, before: string, after: string): Field => [
  name,
  before === after ? `${after}, as now` : `${before} → ${after}`,
]

function tokenRules(before: readonly TokenLimit[], after: readonly TokenLimit[], shown: ShownTokens): Field[] {
  const mints = [...new Set([...before, ...after].map(({ mint }) => mint))]
  return mints.flatMap((mint) => {
    const [from = '', to = ''] = [before, after].map((limits) => {
      const limit = limits.find((one) => one.mint === mint)
      return limit === undefined ? 'none may leave' : limitText(limit, shown)
    })
    return from === to ? [] : [['token', `${mint}: ${from} → ${to}`] as const]
  })
}

function approvalRules(before: PolicyInForce['approvals'], after: PolicyInForce['approvals']): Field[] {
  const [old, next] = [new Map(approvalFields(before)), new Map(approvalFields(after))]
  return [...new Set([...old.keys(), ...next.keys()])].map((name) =>
    changeField(name, old.get(name) ?? 'none', next.get(name) ?? 'none'),
  )
}

function programRules(before: readonly string[], after: readonly string[]): Field[] {
  const added = after.filter((id) => !before.includes(id))
  const removed = before.filter((id) => !after.includes(id))
  if (added.length + removed.length === 0) return [['programs', `the same ${before.length} as now`]]
  return [
    ...added.map((id): Field => ['program added', namedProgram(id)]),
    ...removed.map((id): Field => ['program removed', namedProgram(id)]),
  ]
}

const namedProgram = (id: string) => {
  const name = programName(id)
  return name === null ? id : `${name} (${id})`
}

const signerPaths = paths.signer

export const signerNoun: Noun = {
  aliases: { get: 'status' },
  verbs: {
    status: verb({
      about: 'Show the signer, its policy and what it spent in 24 hours',
      calls: [signerPaths.get, paths.tokens.batchFetch],
      examples: ['svc signer status', 'svc signer status --json'],
      async run(_, session) {
        const { data } = await session.client.signer.get()
        return shownSigner(session, data, daemonDifferences(data, await session.settings.list()))
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
        guard: GUARD,
      },
      examples: ['svc signer test', 'svc signer test --submit --memo "monthly check"'],
      async run({ submit, memo, tx_version, guard }, session) {
        const { client } = session
        if (submit) await confirmOn(session, 'Sign a memo and submit it', await session.cluster())
        const { data } = await client.signer.test({
          submit,
          ...termsField({ tx_version, guard }),
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
      calls: [signerPaths.pause, paths.tokens.batchFetch],
      flags: { reason: text('Reason, shown to refused callers') },
      examples: ['svc signer pause', 'svc signer pause --reason "key rotation"'],
      async run({ reason }, session) {
        return shownSigner(session, (await session.client.signer.pause(reason === undefined ? {} : { reason })).data)
      },
    }),
    resume: verb({
      about: 'Sign again',
      calls: [signerPaths.resume, paths.tokens.batchFetch],
      examples: ['svc signer resume', 'svc signer resume --json'],
      async run(_, session) {
        await session.ui.confirm('Let the signer sign again?')
        return shownSigner(session, (await session.client.signer.resume()).data)
      },
    }),
    policy: verb({
      about: 'Change what the signer may sign; without flags, show it',
      details:
        'Rules without a flag stay as they are. Until a limit is set, nothing may leave the platform wallet. Until a power is named, it does nothing to what others hold.',
      calls: [signerPaths.get, signerPaths.updatePolicy, paths.tokens.batchFetch],
      flags: {
        per_transaction: text('Most SOL that leaves in one transaction, fee and rent included', { placeholder: 'SOL' }),
        per_day: text('Most SOL that leaves in any 24 hours', { placeholder: 'SOL' }),
        max_fee: text('Largest fee of one transaction', { placeholder: 'SOL' }),
        token: listOf('Limits of a mint in raw units; 0:0 takes it off the list', { placeholder: 'MINT:TX:DAY,…' }),
        destinations: listOf('Wallets that may receive, or any', { placeholder: 'ADDR,…' }),
        programs: listOf('Programs that may be invoked', { placeholder: 'ADDR,…' }),
        powers: listOf(`Powers over holders it may use: ${HOLDER_POWERS.join(', ')}; or none`, {
          placeholder: 'NAME,…',
        }),
        guards: choiceOf(GUARDS, 'Guards of what it signs; a request may require them of every policy', GUARD_MEANINGS),
        ...APPROVAL_FLAGS,
      },
      examples: ['svc signer policy --per-transaction 0.5 --per-day 2', 'svc signer policy --destinations any'],
      async run(input, session) {
        const { client, ui } = session
        const { data } = await client.signer.get()
        const changes = policyChanges(input, data.policy)
        if (Object.keys(changes).length === 0 || data.policy === null) return shownSigner(session, data)
        const shown = await shownTokens(session, [...data.policy.tokens, ...(changes.tokens ?? [])])
        await ui.preview(changedRules(data.policy, changes, shown))
        for (const warning of limitWarnings(data.policy, changes, shown)) ui.warn(warning)
        await ui.confirm(`Change the policy of ${data.address}?`)
        return shownSigner(session, (await client.signer.updatePolicy(changes)).data)
      },
    }),
    reset: verb({
      about: 'Reset the daily count',
      calls: [signerPaths.reset, paths.tokens.batchFetch],
      examples: ['svc signer reset', 'svc signer reset --yes'],
      async run(_, session) {
        await session.ui.confirm('Reset the daily count? What was spent until now no longer counts.')
        return shownSigner(session, (await session.client.signer.reset()).data)
      },
    }),
  },
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

async function shownSigner(
  session: Session,
  data: SignerState,
  differences: readonly string[] = [],
): Promise<CommandOutcome> {
  const { provider, address, cluster, policy, spent } = data
  if (policy === null || spent === null) {
    return {
      data,
      text: 'No signer is configured: `mode: signed` is refused.',
      notes: differences.length > 0 ? differences : ['Set one up: svc config set signer keypair (docs/signer.md)'],
    }
  }
  const shown = await shownTokens(session, policy.tokens)
  const left = BigInt(policy.lamports_per_day) - BigInt(spent.lamports)
  const rows: [string, string][] = [
    ['provider', provider],
    ['address', address ?? '-'],
    ['signs for', cluster === 'any' ? 'any cluster' : cluster],
    ['paused', policy.paused ? `yes${policy.paused_reason === null ? '' : `: ${policy.paused_reason}`}` : 'no'],
    [
      'per transaction',
      `${solText(policy.lamports_per_transaction)}, of which at most ${solText(policy.max_fee_lamports)} are fee`,
    ],
    [
      'per day',
      `${solText(policy.lamports_per_day)}, ${solText(spent.lamports)} spent since ${timeText(spent.since)}, ${solText(left > 0n ? left : 0n)} left`,
    ],
    ...policy.tokens.map((limit): [string, string] => {
      const gone = spent.tokens.find(({ mint }) => mint === limit.mint)?.amount ?? '0'
      return [`token ${limit.mint}`, `${limitText(limit, shown)}, ${shown.amount(limit.mint, gone)} spent`]
    }),
    ['destinations', destinationsText(policy.destinations)],
    ['programs', policy.programs.map(programText).join(', ') || 'none'],
    ['powers', powersText(policy.powers)],
    ['guards', guardsText(policy)],
    ...approvalFields(policy.approvals),
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
