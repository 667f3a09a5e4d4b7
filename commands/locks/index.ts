/** `svc locks`: tokens of any mint that a recipient can claim at a date or step by step. */
import type { Lock } from '../../src/api/locks.ts'
import { paths } from '../../src/api/paths.ts'
import { inWhole, tokensText, unitsOfAll } from '../cli/amounts.ts'
import { mintAddress, type Noun, type Rows, text, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { decimalsOfMints } from '../signing/token-state.ts'
import { LOCK, LOCK_ACTS, readLock } from './acts.ts'
import { claimVerb } from './claim.ts'
import { createVerb } from './create.ts'
import { planVerb } from './plan.ts'

/** The fields of a lock in raw units. */
const AMOUNTS = [
  ...['amount', 'cliff_amount', 'amount_per_period', 'unlocked', 'claimed', 'claimable', 'locked', 'held'],
] as const
const COLUMNS = ['address', 'mint', 'recipient', 'amount', 'claimable', 'locked', 'ends_at'] satisfies (keyof Lock)[]

/** The amounts are in whole tokens; those of a mint that no longer exists stay raw units. */
async function listTable(locks: readonly Lock[], session: Session): Promise<Rows> {
  const decimals = await decimalsOfMints(
    session,
    locks.map(({ mint }) => mint),
  )
  const whole = (lock: Lock) => inWhole(lock, unitsOfAll(AMOUNTS, decimals.get(lock.mint) ?? null))
  return { columns: COLUMNS, rows: locks.map(whole).map((lock) => COLUMNS.map((column) => lock[column])) }
}

export const locksNoun: Noun = {
  verbs: {
    create: createVerb,
    plan: planVerb,
    claim: claimVerb,
    ...LOCK_ACTS,
    list: listVerb({
      about: 'List locks of a mint, a recipient or a creator, whoever made them',
      at: [paths.locks.list, paths.accounts.get],
      filters: {
        mint: mintAddress('Only those of this mint'),
        recipient: text('Only those for this wallet', { placeholder: 'WALLET' }),
        creator: text('Only those that this wallet made', { placeholder: 'WALLET' }),
      },
      examples: [
        'svc locks list --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
        'svc locks list --recipient 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --all',
      ],
      columns: COLUMNS,
      table: listTable,
      call: (client, query) => client.locks.list(query),
    }),
    get: verb({
      about: 'Read one lock from the chain: its terms, and what can be claimed now',
      calls: [paths.locks.get],
      args: { lock: LOCK },
      examples: [
        'svc locks get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
        'svc locks get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --json',
      ],
      async run({ lock: address }, session) {
        const data = await readLock(session, address)
        const { next_unlock: next, decimals } = data
        if (decimals === null) return { data }
        const next_unlock = next === null ? null : `${tokensText(next.amount, decimals)} at ${next.at ?? 'never'}`
        return { data, record: inWhole({ ...data, next_unlock }, unitsOfAll(AMOUNTS, decimals)) }
      },
    }),
  },
}
