/** `svc locks claim`: claims what has unlocked of one lock, or of every lock for the wallet. */
import type { Lock, LockRead } from '../../src/api/locks.ts'
import { paths } from '../../src/api/paths.ts'
import { Amount, rawUnits, tokensText, unitsOfAll } from '../cli/amounts.ts'
import { type CommandOutcome, mintAddress, requiredUnless, text, toggle, verb } from '../cli/command.ts'
import { pagesOf } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'
import { oneByOne, rowKey, runList } from '../lists/run.ts'
import { demanding, opens } from '../signing/demand.ts'
import { signerAddress } from '../signing/platform-wallet.ts'
import { previewLines } from '../signing/preview.ts'
import { ACT_SIGNING, type ActFlags, runAct } from '../signing/run-act.ts'
import { decimalsOfMints } from '../signing/token-state.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'
import { closingCall, LOCK_CALLS, lockAddress, lockCall, readLock } from './acts.ts'

export const claimVerb = verb({
  about: 'Claim what has unlocked of a lock, or of all locks for your wallet',
  details: 'The recipient signs and is paid. A lock whose rent is yours is closed by the claim of its last units.',
  calls: [paths.locks.claim, paths.locks.list, paths.accounts.get, ...LOCK_CALLS],
  args: { lock: requiredUnless('all', lockAddress()) },
  flags: {
    all: toggle('Claim from every lock for your wallet, whoever made it', {
      conflicts: ['lock', 'amount', 'squads', 'build_only'],
    }),
    mint: mintAddress('With --all: only locks of this mint', { needs: ['all'] }),
    amount: text('Whole tokens to claim (default everything that has unlocked)'),
    raw: toggle('The amount is raw units, not whole tokens'),
    ...ACT_SIGNING,
  },
  examples: [
    'svc locks claim GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
    'svc locks claim --all --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --dry-run',
  ],
  async run({ lock, all, mint, amount, raw, ...flags }, session) {
    if (all) return claimAll(session, flags, mint)
    const read = await readLock(session, lock ?? '')
    return claimOne(session, flags, read, amount === undefined ? null : unitsIn(read, amount, raw))
  },
})

function unitsIn({ decimals }: LockRead, amount: string, raw: boolean): bigint {
  const units = rawUnits(amount, raw ? 0 : (decimals ?? 0), '--amount')
  if (units === 0n) throw usage('--amount must be more than 0', { param: '--amount' })
  return units
}

function claimOne(
  session: Session,
  flags: ActFlags,
  lock: Pick<LockRead, 'address' | 'mint' | 'decimals'>,
  amount: bigint | null,
): Promise<CommandOutcome> {
  const { address, mint, decimals } = lock
  return runAct(session, flags, {
    what: `Claim from the lock ${address} of ${mint}`,
    call: (body, options) =>
      session.client.locks.claim({ address, ...(amount === null ? {} : { amount: String(amount) }), ...body }, options),
    // Without an amount it is the API's; the whole of it goes to the payer.
    demand: demanding('it pays you this amount of this lock', async (of, data: { amount: string; closes: boolean }) => {
      const paid = { recipient: of.payer, recipient_token: await of.accounts(mint, of.payer) }
      const max_amount = amount ?? BigInt(data.amount)
      return [
        opens(of.payer, of.payer, mint),
        lockCall('claim_v2', { escrow: address, token_mint: mint, ...paid }, { max_amount }),
        ...(data.closes ? [await closingCall(of, lock)] : []),
      ]
    }),
    preview: ({ amount: units, received, remaining }) =>
      previewLines({
        claims: tokensText(units, decimals),
        receives: received !== units && `${tokensText(received, decimals)}: the mint has a transfer fee`,
        stays: tokensText(remaining, decimals),
      }),
    show({ amount: units, received, remaining, closes }) {
      return { address, mint, amount: units, received, remaining, closes }
    },
    decimals: unitsOfAll(['amount', 'received', 'remaining'], decimals),
  })
}

/** Most locks of one run. */
const MOST_CLAIMED = 500

interface ClaimRow extends Pick<Lock, 'address' | 'mint' | 'claimable'> {
  decimals: number | null
  status: 'to claim' | 'claimed' | 'submitted' | 'failed'
  signature: string | null
  error: string | null
}

/** Each run reads from the chain what can be claimed, so that no state has to be stored between runs. */
async function claimAll(session: Session, flags: ActFlags, mint: string | undefined): Promise<CommandOutcome> {
  const recipient = await signerAddress(session, flags)
  const rows = await claimableLocks(session, recipient, mint)
  const mints = new Set(rows.map((row) => row.mint)).size
  return runList(session, flags, {
    question: `Claim from ${counted(rows.length, 'lock')}`,
    isOpen: rows.length > 0,
    preview: async () =>
      flags.dry_run
        ? null
        : {
            lines: [
              ...rows.map((row) => `  ${row.address}  ${tokensText(row.claimable, row.decimals)} of ${row.mint}`),
              // Anybody can lock worthless tokens for this wallet.
              `Token accounts that are missing are opened for about 0.002 SOL each, one for each of ${counted(mints, 'mint')} at most; --mint claims one mint.`,
            ],
            payer: recipient,
          },
    work: () =>
      oneByOne(session, rows, { nameOf: ({ address }) => address, work: (quiet, row) => claimRow(quiet, flags, row) }),
    outcome: (notes) => claimsOutcome(rows, notes),
  })
}

async function claimRow(session: Session, flags: ActFlags, row: ClaimRow): Promise<Partial<ClaimRow>> {
  const own = { ...flags, idempotency_key: rowKey(flags.idempotency_key, row.address) }
  const { data } = await claimOne(session, own, row, null)
  const { amount, signature, lifecycle } = data as { amount: string; signature: string; lifecycle: string }
  return { claimable: amount, signature, status: lifecycle === 'submitted' ? 'submitted' : 'claimed' }
}

async function claimableLocks(session: Session, recipient: string, mint: string | undefined): Promise<ClaimRow[]> {
  const found: Lock[] = []
  const query = { recipient, ...(mint === undefined ? {} : { mint }) }
  for await (const { data } of pagesOf((paging) => session.client.locks.list({ ...query, ...paging }))) {
    found.push(...data.filter(({ claimable }) => claimable !== '0'))
    if (found.length > MOST_CLAIMED) {
      throw usage(`more than ${MOST_CLAIMED} locks can be claimed; anybody can make locks for your wallet`, {
        param: '--all',
        next: 'claim those that you know, with --mint or by their address',
      })
    }
  }
  const mints = found.map((lock) => lock.mint)
  const decimals = await decimalsOfMints(session, mints)
  const open = { status: 'to claim' as const, signature: null, error: null }
  return found.map(({ address, mint: of, claimable }) => {
    return { address, mint: of, claimable, decimals: decimals.get(of) ?? null, ...open }
  })
}

function claimsOutcome(rows: readonly ClaimRow[], notes: readonly string[]): CommandOutcome {
  const failed = rows.filter(({ status }) => status === 'failed')
  const claimed = rows.filter(({ status }) => status === 'claimed').length
  const columns = ['lock', 'mint', 'amount', 'status', 'signature']
  const cells = (row: ClaimRow, amount: unknown) => [row.address, row.mint, amount, row.status, row.signature]
  const whole = (units: string, decimals: number | null) => (decimals === null ? units : new Amount(units, decimals))
  return {
    data: {
      claimed,
      failed: failed.length,
      locks: rows.map(({ claimable, decimals: _, ...row }) => ({ ...row, amount: claimable })),
    },
    rows: { columns, rows: rows.map((row) => cells(row, row.claimable)) },
    ...(rows.length === 0
      ? { text: 'No lock has anything to claim now.' }
      : { table: { columns, rows: rows.map((row) => cells(row, whole(row.claimable, row.decimals))) } }),
    notes: [...failed.map(({ address, error }) => `${address}: ${printable(error ?? '')}`), ...notes],
    exitCode: failed.length === 0 ? EXIT.done : EXIT.failed,
  }
}
