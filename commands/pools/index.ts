/** `svc pools`: tokens launched on a curve, traded and followed until they migrate. */

import type { PoolCreatorTransfer } from '../../src/api/creator-transfers.ts'
import { paths } from '../../src/api/paths.ts'
import type { EarnedAmountsRecord, PoolEarnings } from '../../src/api/pool-earnings.ts'
import type { PoolMigrationBuilt } from '../../src/api/pool-migrations.ts'
import type { PoolTrade } from '../../src/api/pool-trades.ts'
import type { SharedConfig } from '../../src/api/pools.ts'
import type { Client } from '../../src/client.ts'
import { percentOf } from '../../src/solana/launch-curve.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, wholeOf } from '../cli/amounts.ts'
import { type CommandOutcome, choiceOf, type Noun, poolAddress, required, text, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { amountTexts } from '../fees/one-claim.ts'
import { type Flat, flat } from '../signing/built-transactions.ts'
import { anyValue, demanding, opens } from '../signing/demand.ts'
import {
  ALLOW_PROGRAMS,
  buildFields,
  programsField,
  SIGNING,
  type SigningFlags,
  WALLET_ADDRESS,
} from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { rememberHere } from '../signing/remembered.ts'
import { runSigned } from '../signing/run.ts'
import { SVG } from '../ui/drawing-flags.ts'
import { printable } from '../ui/render.ts'
import { create } from './create.ts'
import { makesConfig, mostCreationFee } from './launch-demand.ts'
import { createFlags } from './launch-flags.ts'
import { nextStep } from './next-step.ts'
import { positionVerbs } from './positions/index.ts'
import { presets } from './presets.ts'
import { preview } from './preview.ts'
import { progress } from './progress.ts'
import { metricsOutcome, poolOutcome } from './record.ts'
import { swap } from './swap.ts'
import { poolVerifyVerb } from './verify.ts'
import { watch } from './watch.ts'

// `svc pools trades`: who has bought and sold, newest first.

const trades = listVerb({
  about: 'List the trades of a pool, newest first, whoever traded',
  at: paths.pools.trades,
  args: { address: required(poolAddress()) },
  examples: [
    'svc pools trades CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
    'svc pools trades CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --limit 100 --json',
  ],
  columns: ['traded_at', 'side', 'amount_in', 'amount_out', 'price', 'trader', 'signature'],
  table: (items: readonly PoolTrade[]) => ({
    columns: ['traded_at', 'side', 'paid', 'received', 'price', 'trader', 'signature'],
    rows: items.map(
      ({ traded_at, side, amount_in, decimals_in, amount_out, decimals_out, price, trader, signature }) => [
        traded_at,
        side,
        wholeOf(amount_in, decimals_in),
        wholeOf(amount_out, decimals_out),
        price,
        trader,
        signature,
      ],
    ),
  }),
  call: (client, query) => client.pools.trades(query),
})

// `svc pools earnings`: what a pool has earned for partner, creator and protocol, by where it comes from.

const COLUMNS = ['party', 'kind', 'token', 'accrued', 'claimable', 'claimed'] as const
/** Characters of a mint that stand for a token without a symbol. */
const SHORT_MINT = 6

const earnings = verb({
  about: 'Read what a pool has earned for partner, creator and protocol',
  details:
    'Shows earnings before and after the migration; either of the two addresses works. `svc fees claim` claims each kind. A dash is an amount that the chain does not show.',
  calls: [paths.pools.earnings],
  args: { address: required(poolAddress()) },
  examples: [
    'svc pools earnings CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
    'svc pools earnings CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
  ],
  async run({ address }, { client }) {
    const { data } = await client.pools.earnings({ address })
    const rows = earningRows(data)
    const isUnknown = rows.some(({ cells }) => cells.includes(null))
    const notes = [
      ...(isUnknown ? ['-: the chain does not show it.'] : []),
      ...(isUnknown && data.trading_fees !== null ? [togetherNote(data, data.trading_fees.quote)] : []),
      ...(data.positions_complete ? [] : ['A wallet holds so many NFTs that not all of its positions were found.']),
    ]
    return {
      data,
      rows: { columns: COLUMNS, rows: rows.map(({ cells }) => cells) },
      table: {
        columns: COLUMNS,
        rows: rows.map(({ cells: [party, kind, token, ...amounts], decimals }) => [
          party,
          kind,
          token,
          ...amounts.map((amount) => wholeOf(amount, decimals)),
        ]),
      },
      notes,
    }
  },
})

/** The counters that partner and creator share show the amounts of both. */
function togetherNote({ quote_mint, quote_decimals }: PoolEarnings, quote: EarnedAmountsRecord): string {
  const of = (amount: string | null) => (amount === null ? '-' : groupedDecimalOf(BigInt(amount), quote_decimals))
  return `dbc of partner and creator together, in ${quoteName(quote_mint)}: ${of(quote.accrued)} accrued, ${of(quote.claimable)} claimable, ${of(quote.claimed)} claimed.`
}

interface EarningRow {
  cells: (string | null)[]
  decimals: number
}

/** One row for each token of each source; a token without any amount is left out if the source has another. */
function earningRows(earned: PoolEarnings): EarningRow[] {
  const { base_symbol, base_mint, quote_mint, quote_decimals, base_decimals, parties } = earned
  const tokens = {
    quote: { name: quoteName(quote_mint), decimals: quote_decimals },
    lamports: { name: 'SOL', decimals: LAMPORT_DECIMALS },
    base: { name: base_symbol === null ? shortMint(base_mint) : printable(base_symbol), decimals: base_decimals },
  }
  return parties.flatMap(({ party, sources }) =>
    sources.flatMap((source) => {
      const shown = (['quote', 'lamports', 'base'] as const).filter((token) => source[token] !== null)
      const earning = shown.filter((token) => !isNothing(source[token]))
      return (earning.length === 0 ? shown.slice(0, 1) : earning).map((token) => {
        const { accrued = null, claimable = null, claimed = null } = source[token] ?? {}
        const { name, decimals } = tokens[token]
        return { cells: [party, source.kind, name, accrued, claimable, claimed], decimals }
      })
    }),
  )
}

const shortMint = (mint: string) => `${mint.slice(0, SHORT_MINT)}…`
const quoteName = (mint: string) => (mint === WRAPPED_SOL ? 'SOL' : shortMint(mint))

const isNothing = (amounts: EarnedAmountsRecord | null): boolean =>
  amounts?.accrued === '0' && (amounts.claimable ?? '0') === '0'

// `svc pools migrate`: sends the migration of a full curve, which anybody may pay for.

const { submit, get, simulate, forecast } = paths.transactions

type Step = PoolMigrationBuilt['step']

const demandsMigration = demanding(
  'the next step of this migration',
  ({ payer }, { pool, step }: { pool: string; step: Step }) => [
    ...(step === 'create_locker' ? [opens(payer, anyValue, anyValue)] : []),
    {
      program: PROGRAMS.dbc.id,
      call: step === 'migrate' ? 'migration_damm_v2' : 'create_locker',
      fields: { virtual_pool: pool, payer },
    },
  ],
)

const STEP_TEXTS: Readonly<Record<Step, string>> = {
  create_locker: 'make the lock of its vested tokens, then migrate it',
  migrate: 'migrate it to DAMM v2',
}

const migrate = verb({
  about: 'Migrate a full curve to its pool; anybody may',
  details:
    'Your keypair pays the fees and the rent of the new accounts; it receives nothing, and needs no role. A curve with vesting takes two transactions: the command sends the second once the first is confirmed, and can be run again after any interruption.',
  calls: [paths.pools.migrate, simulate, forecast, submit, get],
  args: { address: required(poolAddress()) },
  flags: SIGNING,
  examples: [
    'svc pools migrate CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
    'svc pools migrate CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --dry-run -k id.json',
  ],
  async run({ address, ...flags }, session) {
    const { step, outcome } = await sendStep(session, address, flags)
    const isSent = !flags.dry_run && !flags.build_only
    if (step === 'migrate' || !isSent) return outcome
    if (flags.squads !== undefined) {
      const { multisig, vaultIndex } = flags.squads
      const again = `svc pools migrate ${address} --squads ${multisig}:${vaultIndex}`
      return { ...outcome, notes: [...(outcome.notes ?? []), `Once it is executed: \`${again}\` again`] }
    }
    if (flags.wait === 'none') {
      return { ...outcome, notes: [...(outcome.notes ?? []), `Then: \`svc pools migrate ${address}\` again`] }
    }
    return (await sendStep(session, address, flags)).outcome
  },
})

async function sendStep(
  session: Session,
  address: string,
  flags: SigningFlags,
): Promise<{ step: Step; outcome: CommandOutcome }> {
  let step: Step = 'migrate'
  const outcome = await runSigned<Flat<PoolMigrationBuilt>>(session, flags, {
    showsTotal: true,
    what: (data) => `Migrate ${address}: ${STEP_TEXTS[data.step]}`,
    async build(payer) {
      const built = flat(await session.client.pools.migrate({ address, payer, ...buildFields(flags) }))
      step = built.data.step
      return built
    },
    demand: (of, data) => demandsMigration(of, { pool: address, step: data.step }),
    preview: ({ damm_pool_address }) => [previewLine('becomes', damm_pool_address)],
    show: ({ pool_address, damm_pool_address }) => ({ pool_address, step, damm_pool_address }),
  })
  return { step, outcome }
}

// `svc pools transfer-creator`: hands the role of a pool's creator over, signed by the present one.

const demandsCreatorTransfer = demanding(
  'this wallet becomes the creator',
  ({ payer }, { pool, creator }: { pool: string; creator: string }) => [
    {
      program: PROGRAMS.dbc.id,
      call: 'transfer_pool_creator',
      fields: { virtual_pool: pool, creator: payer, new_creator: creator },
    },
  ],
)

const transferCreatorVerb = verb({
  about: 'Transfer the creator role of a pool',
  details:
    'The present creator signs. What it has not claimed yet goes to the new creator: claim it first with `svc fees claim --as creator`. Vested tokens and positions of the migrated pool stay where they are.',
  calls: [paths.pools.transferCreator, simulate, submit, get],
  args: { address: required(poolAddress()) },
  flags: {
    to: required(text('Wallet that becomes the creator', WALLET_ADDRESS)),
    allow_programs: ALLOW_PROGRAMS,
    ...SIGNING,
  },
  examples: [
    'svc pools transfer-creator CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 -k creator.json',
    'svc pools transfer-creator CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --dry-run',
  ],
  run: ({ address, to, ...flags }, session) =>
    runSigned<Flat<PoolCreatorTransfer>>(session, flags, {
      what: `Make ${to} the creator of ${address}`,
      build: async (payer) => {
        const request = { address, payer, new_creator: to, ...programsField(flags), ...buildFields(flags) }
        return flat(await session.client.pools.transferCreator(request))
      },
      demand: (of) => demandsCreatorTransfer(of, { pool: address, creator: to }),
      preview: ({ creator, unclaimed_quote, unclaimed_base, ...mints }) => [
        previewLine('creator', creator),
        ...amountTexts({ ...mints, estimated_quote: unclaimed_quote, estimated_base: unclaimed_base }).map((amount) =>
          previewLine('unclaimed', `${amount}, moves along`),
        ),
      ],
      show: ({ pool_address, creator, new_creator, unclaimed_quote, unclaimed_base }) => ({
        pool_address,
        creator,
        new_creator,
        unclaimed_quote,
        unclaimed_base,
      }),
    }),
})

// `svc pools share`: puts the config account on chain that the launches of a preset share, once.

const demandsConfig = demanding(
  'one config account, at your cost',
  (of, { config, mostFee }: { config: string; mostFee: bigint }) => [makesConfig(of, config, { mostFee })],
)

type ShareAnswer = Awaited<ReturnType<Client['pools']['share']>>['data']

const share = verb({
  about: 'Put the config account on chain that the launches of a preset share',
  details:
    'For presets with "shared_config": true. Your keypair pays its rent, once; from then on a launch of the preset is a single transaction. A changed preset needs it again.',
  calls: [paths.pools.sharedConfig, paths.pools.share, simulate, forecast, submit, get],
  args: { name: required(text('Name of the preset')) },
  flags: { max_creation_fee: createFlags.max_creation_fee, ...SIGNING },
  examples: ['svc pools share my-curve', 'svc pools share my-curve --dry-run -k id.json'],
  async run({ name, ...flags }, session) {
    const mostFee = mostCreationFee(flags)
    const { data: found } = await session.client.pools.sharedConfig({ name })
    if (found.status === 'live') return { data: found, notes: [`It is on chain already: launches of ${name} use it.`] }
    return runSigned<ShareAnswer>(session, flags, {
      showsTotal: true,
      what: `Create the config account that the launches of ${name} share`,
      build: (payer) => session.client.pools.share({ name, payer, ...buildFields(flags) }),
      demand: (of, { config }) => demandsConfig(of, { config, mostFee }),
      async show({ config }, confirmed): Promise<SharedConfig> {
        if (confirmed === null) return { preset: name, config, status: 'pending' }
        rememberHere(session, 'shared-config', config, String(mostFee))
        return (await session.client.pools.sharedConfig({ name })).data
      },
    })
  },
})

const POOL_ADDRESS = { address: required(poolAddress()) }

const PENDING =
  'pending: built, and not seen on chain yet. A launch that nobody sends fails by itself, and holds no ticker.'

export const poolsNoun: Noun = {
  groups: { positions: 'Liquidity of migrated pools that wallets hold' },
  aliases: { 'transfer-position': 'positions transfer' },
  verbs: {
    create,
    list: listVerb({
      about: 'List pools, newest first',
      at: paths.pools.list,
      filters: {
        status: choiceOf(['pending', 'live', 'migration_triggered', 'migrated', 'failed'], 'Only those in this state', {
          pending: 'built, not seen on chain yet',
          migration_triggered: 'the curve is full',
        }),
        type: choiceOf(['dbc', 'damm_v2'], 'Only those of this type', {
          dbc: 'launch curves',
          damm_v2: 'pools that trade without a curve',
        }),
        creator: text('Only those of this wallet', { placeholder: 'WALLET' }),
        mint: text('Only those of this token', { placeholder: 'MINT' }),
        symbol: text('Only those of tokens with this symbol', { placeholder: 'SYMBOL' }),
      },
      examples: ['svc pools list', 'svc pools list --status live --type dbc --all'],
      columns: ['address', 'type', 'symbol', 'status', 'curve_progress', 'base_mint', 'created_at'],
      table: (pools) => ({
        columns: ['address', 'type', 'symbol', 'status', 'curve', 'base_mint', 'created_at'],
        rows: pools.map(({ address, type, symbol, status, curve_progress, base_mint, created_at }) => [
          address,
          type,
          symbol,
          status,
          curve_progress === null ? null : percentOf(curve_progress),
          base_mint,
          created_at,
        ]),
      }),
      notes: (pools) => (pools.some(({ status }) => status === 'pending') ? [PENDING] : []),
      call: (client, query) => client.pools.list(query),
    }),
    get: verb({
      about: 'Read one pool',
      details: 'Also reads a pool on chain that was not launched here.',
      calls: [paths.pools.get, paths.service.workers],
      args: POOL_ADDRESS,
      flags: { svg: SVG },
      examples: [
        'svc pools get CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
        'svc pools get CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
        'svc pools get CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --svg curve.svg',
      ],
      async run({ address, svg }, session) {
        const { data } = await session.client.pools.get({ address })
        const outcome = poolOutcome(data, svg)
        return { ...outcome, notes: [...(outcome.notes ?? []), ...(await nextStep(session, data))] }
      },
    }),
    progress,
    fees: verb({
      about: 'Read the fees a pool holds for the partner',
      calls: [paths.pools.feeMetrics],
      args: POOL_ADDRESS,
      examples: [
        'svc pools fees CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
        'svc pools fees CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
      ],
      run: async (input, { client }) => metricsOutcome((await client.pools.feeMetrics(input)).data),
    }),
    earnings,
    trades,
    verify: poolVerifyVerb,
    presets,
    preview,
    share,
    swap,
    migrate,
    'transfer-creator': transferCreatorVerb,
    ...positionVerbs,
    watch,
  },
}
