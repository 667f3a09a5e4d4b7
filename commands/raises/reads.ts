/** `svc raises get` and `list`. */
import { paths } from '../../src/api/paths.ts'
import type { Raise, RaiseBuyer, RaiseListed } from '../../src/api/raises.ts'
import { inWhole, unitsOfAll } from '../cli/amounts.ts'
import { mintAddress, type Rows, text, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { readKey } from '../merkle/built-record.ts'
import { decimalsOfMints } from '../signing/token-state.ts'
import { printable } from '../ui/render.ts'
import { RAISE_ARG } from './proven-raise.ts'

const QUOTES = ['min', 'max', 'deposited', 'fees', 'refunded'] as const
const TOKENS = ['supply', 'claimed'] as const
const BUYER_QUOTES = ['cap', 'deposited', 'fee', 'can_deposit', 'can_withdraw', 'can_refund'] as const
const BUYER_TOKENS = ['can_claim', 'allocation', 'claimed'] as const
const COLUMNS = ['id', 'mint', 'state', 'deposited', 'max', 'ends_at', 'settle_error'] satisfies (keyof RaiseListed)[]

/** The command for what can be done. */
const commandFor = (act: string, by: string, id: string): string =>
  `svc raises ${by === 'buyers' || act === 'open' ? act : 'settle'} ${id}`

function raiseRecord(raise: Raise) {
  const { rounds, due, pool, creator_vault, decimals, quote_decimals } = raise
  const units = { ...unitsOfAll(QUOTES, quote_decimals), ...unitsOfAll(TOKENS, decimals) }
  const can = due.map(({ act, by, text: says }) => `${by}: ${printable(says)} (${commandFor(act, by, raise.id)})`)
  const record = {
    ...raise,
    rounds: rounds.length,
    due: can.length === 0 ? 'nothing now' : can.join('; '),
    pool: pool === null ? null : `${pool.quote_bps / 100} % of what is raised, ${pool.locked_bps / 100} % locked`,
    creator_vault:
      creator_vault === null
        ? null
        : `${creator_vault.multisig}, ${creator_vault.threshold} of ${creator_vault.members}, time lock ${creator_vault.time_lock} s${creator_vault.config_authority === null ? '' : `; ${creator_vault.config_authority} can change these rules alone`}`,
  }
  return inWhole(record, units)
}

function buyerRecord({ rounds, can, wallet, state }: RaiseBuyer, { decimals, quote_decimals }: Raise) {
  const units = { ...unitsOfAll(BUYER_QUOTES, quote_decimals), ...unitsOfAll(BUYER_TOKENS, decimals) }
  const [first] = rounds
  return rounds.length === 1 && first !== undefined
    ? { wallet, state, can: can.join(', ') || 'nothing now', ...inWhole(first, units) }
    : { wallet, state, can: can.join(', ') || 'nothing now', rounds: rounds.map((each) => inWhole(each, units)) }
}

export const getVerb = verb({
  about: 'Read a raise from the chain: terms, progress, and what can be done now, and by whom',
  calls: [paths.raises.get, paths.raises.buyer],
  args: { raise: RAISE_ARG },
  flags: { buyer: text('What this wallet has deposited, and can do now', { placeholder: 'WALLET' }) },
  examples: [
    'svc raises get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
    'svc raises get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --buyer 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
  ],
  async run({ raise: id, buyer }, { client }) {
    readKey(id, 'RAISE')
    const { data: raise } = await client.raises.get({ id })
    if (buyer !== undefined) readKey(buyer, '--buyer')
    if (buyer === undefined) return { data: raise, record: raiseRecord(raise) }
    const { data } = await client.raises.buyer({ id, wallet: buyer })
    return { data, record: buyerRecord(data, raise) }
  },
})

/** Sums are in whole units of what is paid; those of a mint that cannot be read stay raw units. */
async function listTable(raises: readonly RaiseListed[], session: Session): Promise<Rows> {
  const mints = raises.map(({ quote_mint }) => quote_mint)
  const decimals = await decimalsOfMints(session, mints)
  const whole = (raise: RaiseListed) =>
    inWhole(raise, unitsOfAll(['deposited', 'max'], decimals.get(raise.quote_mint) ?? null))
  return { columns: COLUMNS, rows: raises.map(whole).map((raise) => COLUMNS.map((column) => raise[column])) }
}

export const raisesList = listVerb<RaiseListed>({
  about: 'List the raises that are recorded here',
  at: [paths.raises.list, paths.accounts.get],
  filters: {
    mint: mintAddress('Only those of this token'),
    creator: text('Only those of this creator', { placeholder: 'WALLET' }),
  },
  examples: ['svc raises list', 'svc raises list --creator 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --all'],
  columns: COLUMNS,
  table: listTable,
  call: (client, query) => client.raises.list(query),
})
