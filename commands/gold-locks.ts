/** `svc gold`: locks a wallet's gold token until a date and unlocks it, signed locally. */

import { formatDuration } from '../src/api/durations.ts'
import type { GoldLock, GoldLocking, GoldToken, GoldUnlocking } from '../src/api/gold-locks.ts'
import { paths } from '../src/api/paths.ts'
import type { Client } from '../src/client.ts'
import { DAY_SECONDS } from '../src/platform/timing.ts'
import { bytesOfHex } from '../src/solana/bytes.ts'
import { goldLockMemo } from '../src/solana/memos.ts'
import { JUPITER_LOCK } from '../src/solana/programs/jupiter-lock.ts'
import { MAX_U64 } from '../src/solana/u64.ts'
import { groupedDecimalOf, rawUnits, wholeOf } from './cli/amounts.ts'
import { choiceOf, integer, type Noun, required, text, verb } from './cli/command.ts'
import { listVerb, recordVerb } from './cli/reads.ts'
import type { Session } from './cli/session.ts'
import { isPlainLockClaim } from './fees/claim-demand.ts'
import { closingCall } from './locks/acts.ts'
import { refuseUnconfirmable } from './signing/confirm.ts'
import {
  type Call,
  demanding,
  opens,
  platformFee,
  provesDecimals,
  type Sent,
  unexpectedBuild,
  writesMemo,
} from './signing/demand.ts'
import { buildFields, SIGNING } from './signing/flags.ts'
import { DEFAULT_PLATFORM, PLATFORM } from './signing/platform-flags.ts'
import { previewLine } from './signing/preview.ts'
import { runSigned } from './signing/run.ts'
import { usage } from './ui/problem.ts'
import { timeText } from './ui/times.ts'

type GoldClient = Client['goldLocks']

const demandsLock = demanding(
  'this amount into your own lock, for these days',
  async (
    of,
    { mint, decimals, escrow, ...body }: Sent<GoldClient['create'], 'user'> & GoldToken & { escrow: string },
  ): Promise<Call[]> => {
    const { payer } = of
    const own = await of.accounts(mint, payer)
    let starts = 0
    const isNow = (seconds: string) => {
      starts = Number(seconds)
      if (of.isNow(seconds)) return true
      of.apiSays(`the lock starts at ${timeText(starts * 1000)} by the chain's clock`, '--days')
      return true
    }
    return [
      provesDecimals(own, mint, decimals, payer),
      opens(payer, escrow, mint),
      {
        program: JUPITER_LOCK.id,
        call: 'create_vesting_escrow_v2',
        fields: {
          base: payer,
          sender: payer,
          recipient: payer,
          escrow,
          token_mint: mint,
          sender_token: own,
          vesting_start_time: isNow,
          cliff_time: (seconds) => Number(seconds) === starts + body.lock_duration_days * DAY_SECONDS,
          frequency: 1,
          cliff_unlock_amount: body.amount,
          amount_per_period: 0,
          number_of_period: 0,
        },
        data: isGoldLock,
      },
      ...goldEnd(payer, 'gold-lock', body),
    ]
  },
)

const demandsUnlock = demanding(
  'the lock is paid to you, and closed',
  async (
    of,
    { mint, escrow, ...body }: Sent<GoldClient['unlock'], 'user'> & Pick<GoldUnlocking, 'mint' | 'escrow'>,
  ): Promise<Call[]> => {
    const { payer } = of
    const own = await of.accounts(mint, payer)
    return [
      opens(payer, payer, mint),
      {
        program: JUPITER_LOCK.id,
        call: 'claim_v2',
        fields: { escrow, token_mint: mint, recipient: payer, recipient_token: own },
        data: isPlainLockClaim,
        least: 0,
      },
      await closingCall(of, { address: escrow, mint }),
      ...goldEnd(payer, 'gold-unlock', body),
    ]
  },
)

/** Nobody can cancel it or name another recipient, and no transfer hook has accounts. */
function isGoldLock(hex: string): boolean {
  const args = JUPITER_LOCK.argsOf('create_vesting_escrow_v2', bytesOfHex(hex))
  if (args === null || args.remaining_accounts_info !== null) return false
  return args.cancel_mode === 0 && args.update_recipient_mode === 0
}

const goldEnd = (
  payer: string,
  step: 'gold-lock' | 'gold-unlock',
  { platform_id, platform_fee }: Sent<GoldClient['unlock'], 'user'>,
): Call[] => [writesMemo(goldLockMemo(step, platform_id)), ...platformFee(payer, platform_fee)]

const { submit, get, simulate } = paths.transactions
const { create, unlock, token } = paths.goldLocks
/** The most decimals that a mint can have. */
const MOST_DECIMALS = 255

export const goldLocksNoun: Noun = {
  verbs: {
    lock: verb({
      about: 'Lock gold of your wallet for a number of days',
      details: 'Nobody can cancel or shorten a lock, not even you. A wallet has one live lock at a time.',
      calls: [token, create, simulate, submit, get],
      flags: {
        amount: text('Whole tokens to lock, like 100 or 0.5', { placeholder: 'TOKENS', conflicts: ['raw_amount'] }),
        raw_amount: text('The same in raw units, instead of --amount', { placeholder: 'UNITS' }),
        days: required(integer('Days until it can be unlocked, 1 to 1460', { min: 1, max: 1460 })),
        ...PLATFORM,
        ...SIGNING,
      },
      needs: [['amount', 'raw_amount']],
      examples: ['svc gold lock --amount 100 --days 30', 'svc gold lock --raw-amount 1 --days 1 -k id.json --dry-run'],
      async run({ amount, raw_amount, days, platform_id = DEFAULT_PLATFORM, platform_fee = 0, ...flags }, session) {
        const shown = amountFlag(amount, raw_amount)
        if (!flags.dry_run && !flags.build_only) await refuseUnconfirmable(session, await session.cluster())
        const { data: gold } = await session.client.goldLocks.token()
        const units = unitsOf(amount, raw_amount, gold)
        const whole = groupedDecimalOf(units, gold.decimals)
        const forDays = `${days} day${days === 1 ? '' : 's'}`
        if (units === 0n) throw usage(`${shown} must be more than 0`, { param: shown })
        const body = { platform_id, platform_fee, amount: String(units), lock_duration_days: days }
        return runSigned<GoldLocking>(session, flags, {
          what: ({ mint, unlocks_at }) =>
            `Lock ${whole} of ${mint}, with no way to cancel it, for ${forDays}, until ${timeText(unlocks_at)}`,
          build: (user) => session.client.goldLocks.create({ ...buildFields(flags), user, ...body }),
          async demand(of, { mint, escrow }) {
            if (mint !== gold.mint) throw unexpectedBuild(`it locks ${mint}, not ${gold.mint}`)
            return demandsLock(of, { ...body, ...gold, escrow })
          },
          preview: ({ unlocks_at, escrow }) => [
            previewLine('locked', `${whole} of ${gold.mint}`),
            previewLine('until', `${timeText(unlocks_at)} (${forDays}); nobody can cancel or shorten it`),
            previewLine('escrow', escrow),
          ],
          show: ({ mint, escrow, unlocks_at }) => ({ mint, amount: String(units), unlocks_at, escrow }),
          decimals: () => ({ amount: gold.decimals }),
        })
      },
    }),
    unlock: verb({
      about: 'Take back your gold once its time has come',
      details: 'Pays out all of it and closes the lock, which returns its rent.',
      calls: [token, unlock, simulate, submit, get],
      flags: { ...PLATFORM, ...SIGNING },
      examples: ['svc gold unlock', 'svc gold unlock -k id.json --dry-run'],
      async run({ platform_id = DEFAULT_PLATFORM, platform_fee = 0, ...flags }, session) {
        const decimals = await goldDecimals(session)
        const body = { platform_id, platform_fee }
        return runSigned<GoldUnlocking>(session, flags, {
          what: 'Unlock your gold',
          build: (user) => session.client.goldLocks.unlock({ user, ...body, ...buildFields(flags) }),
          demand: (of, { mint, escrow }) => demandsUnlock(of, { ...body, mint, escrow }),
          show: ({ mint, amount, escrow }) => ({ mint, amount, escrow }),
          decimals: ({ mint }) => {
            const digits = decimals.get(mint)
            return digits === undefined ? {} : { amount: digits }
          },
        })
      },
    }),
    list: listVerb({
      about: 'List gold locks, newest first',
      at: [paths.goldLocks.list, token],
      filters: {
        user: text('Only those of this wallet', { placeholder: 'WALLET' }),
        status: choiceOf(['locked', 'unlockable', 'unlocked'], 'Only those in this state', {
          unlockable: 'its time is over, and it is not taken back yet',
        }),
      },
      examples: ['svc gold list', 'svc gold list --status unlockable --all'],
      columns: ['user', 'amount', 'status', 'unlocks_at', 'escrow'],
      async table(locks: readonly GoldLock[], session) {
        const decimals = await goldDecimals(session)
        return {
          columns: ['user', 'amount', 'status', 'unlocks_at', 'escrow'],
          rows: locks.map((lock) => [lock.user, amountOf(lock, decimals), lock.status, lock.unlocks_at, lock.escrow]),
        }
      },
      call: (client, query) => client.goldLocks.list(query),
    }),
    get: verb({
      about: 'Read the gold lock of a wallet from the chain, and how much time is left',
      calls: [paths.goldLocks.get, token],
      args: { user: required(text('Address of the wallet')) },
      examples: [
        'svc gold get 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
        'svc gold get 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --json',
      ],
      async run({ user }, session) {
        const { data } = await session.client.goldLocks.get({ user })
        const { status, seconds_left } = data
        const record = { ...data, amount: amountOf(data, await goldDecimals(session)) }
        if (status === 'locked') return { data, record, notes: [`Locked for another ${formatDuration(seconds_left)}.`] }
        return {
          data,
          record,
          notes: status === 'unlockable' ? ['Its time has come: take it back with svc gold unlock.'] : [],
        }
      },
    }),
    token: recordVerb({
      about: 'Show the token that gold locks hold',
      at: token,
      examples: ['svc gold token', 'svc gold token --json'],
      call: (client) => client.goldLocks.token(),
    }),
  },
}

/**
 * The decimals by mint; empty if the gold token cannot be read, because a value that is only displayed must not fail
 * the command.
 */
const goldDecimals = ({ client }: Session): Promise<ReadonlyMap<string, number>> =>
  client.goldLocks.token().then(
    ({ data }) => new Map([[data.mint, data.decimals]]),
    () => new Map(),
  )

function amountOf({ mint, amount }: Pick<GoldLock, 'mint' | 'amount'>, decimals: ReadonlyMap<string, number>): unknown {
  const digits = decimals.get(mint)
  return digits === undefined ? `${amount} raw units` : wholeOf(amount, digits)
}

/** Returns which of the two flags was set. */
function amountFlag(whole: string | undefined, raw: string | undefined): '--amount' | '--raw-amount' {
  const shown = whole === undefined ? '--raw-amount' : '--amount'
  // Text that cannot be an amount of any token is refused before the first request.
  rawUnits(whole ?? raw ?? '', whole === undefined ? 0 : MOST_DECIMALS, shown)
  return shown
}

/** Returns raw units from whole tokens or raw units; throws a usage problem above the maximum of a u64. */
export function unitsOf(
  whole: string | undefined,
  raw: string | undefined,
  { decimals }: Pick<GoldToken, 'decimals'>,
): bigint {
  const shown = amountFlag(whole, raw)
  const units = whole === undefined ? rawUnits(raw ?? '', 0, shown) : rawUnits(whole, decimals, shown)
  if (units <= MAX_U64) return units
  throw usage(`${shown} comes to more than ${MAX_U64} raw units, all that a token account can hold`, { param: shown })
}
