/** `svc locks create`: locks tokens of any mint for one recipient, or for every row of a CSV. */
import { paths } from '../../src/api/paths.ts'
import { LOCK_PARTIES } from '../../src/solana/programs/jupiter-lock.ts'
import { feeInEpoch } from '../../src/solana/transfer-fees.ts'
import { solOf, tokensText } from '../cli/amounts.ts'
import { choiceOf, mintAddress, required, requiredUnless, text, toggle, verb } from '../cli/command.ts'
import { isoOf } from '../cli/typed-times.ts'
import { columnInputs } from '../lists/column-flags.ts'
import { TRUST_JOURNAL } from '../lists/proof.ts'
import { ALLOW_PROGRAMS, SIGN_UNSEEN } from '../signing/flags.ts'
import { previewLine, previewLines } from '../signing/preview.ts'
import { ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { mintState } from '../signing/token-state.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { LOCK_LIST_FLAGS } from './list-rows.ts'
import { chainClock, flagOf, lockPlan, requireSteps, SCHEDULE_FLAGS, scheduleLines, usualTexts } from './schedule.ts'
import { demandsLock, type LockTerms, lockRequest, termLines } from './terms.ts'

export const createVerb = verb({
  about: 'Lock tokens of any mint for a recipient, or for every row of a CSV',
  details:
    'Jupiter Lock, a public audited program, holds the tokens. The recipient claims what has unlocked. What does not divide evenly unlocks at the cliff. The columns of the CSV are wallet, amount, start, cliff, periods, frequency and cliff_amount; the flags stand for empty cells. A journal is kept beside the CSV: run the same command again after any interruption, and each lock is made once. With --squads each row is a proposal.',
  calls: [
    paths.locks.create,
    ...[paths.accounts.get, paths.accounts.batchFetch, paths.signer.get],
    ...[paths.transactions.simulate, paths.transactions.forecast, paths.transactions.submit, paths.transactions.get],
    paths.transactions.batchFetch,
  ],
  args: {
    mint: required(mintAddress('Mint of the token, or its symbol')),
    recipient: requiredUnless('from', text('Wallet that can claim', { placeholder: 'WALLET' })),
    amount: requiredUnless('from', text('Whole tokens, like 1000 or 0.5', { placeholder: 'AMOUNT' })),
  },
  flags: {
    from: text('CSV with a lock for each row, instead of one recipient', {
      placeholder: 'FILE',
      existing: true,
      conflicts: ['recipient', 'amount', 'build_only', 'idempotency_key'],
    }),
    journal: text('With --from: file that records what is done (default: beside the CSV)', {
      placeholder: 'FILE',
      needs: ['from'],
    }),
    ...LOCK_LIST_FLAGS,
    trust_journal: TRUST_JOURNAL,
    ...SCHEDULE_FLAGS,
    cancellable_by: choiceOf(
      LOCK_PARTIES,
      'Who may end it; the creator then gets what has not unlocked (default none)',
    ),
    recipient_changeable_by: choiceOf(LOCK_PARTIES, 'Who may give it to another recipient (default none)'),
    title: text('Title, stored on chain for everybody to read'),
    description: text('Description, stored on chain like the title'),
    all_at_once: toggle('Without a terminal, or with --yes: everything may unlock in one moment'),
    raw: toggle('Amounts are raw units, not whole tokens'),
    allow_programs: ALLOW_PROGRAMS,
    sign_unseen: SIGN_UNSEEN,
    ...ACT_SIGNING,
  },
  examples: [
    'svc locks create 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 48000 --cliff 365d --cliff-amount 25% --periods 36 --frequency 30d',
    'svc locks create 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 500 --cliff 2027-12-31 --cancellable-by creator --dry-run',
    'svc locks create 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --from team.csv --cliff 365d --periods 36 --frequency 30d --dry-run',
  ],
  async run(input, session) {
    const { mint, recipient = '', amount = '', from, journal, raw, allow_repeats, all_at_once, ...flags } = input
    const { start, cliff, cliff_amount, periods, frequency, title, description, allow_programs, ...signing } = flags
    const { cancellable_by = 'none', recipient_changeable_by = 'none', ...own } = signing
    const terms: LockTerms = { cancellable_by, recipient_changeable_by, title, description }
    const release = { isMeant: all_at_once, isRead: own.dry_run || session.ui.attended }
    const { decimals, transferFee } = await mintState(session, mint)
    const { now, epoch } = await chainClock(session)
    const units = { decimals: raw ? 0 : decimals, now }
    const usual = usualTexts({ start, cliff, cliff_amount, periods, frequency })
    if (from !== undefined) {
      const [{ makeAll }, { lockList }] = await Promise.all([import('../lists/make-all.ts'), import('./lock-list.ts')])
      const { signed } = own
      const fee = feeInEpoch({ transferFee }, epoch)
      const reading = { isRaw: raw, mint, columns: columnInputs(flags), allowsRepeats: allow_repeats }
      const list = { file: from, journal, mint, decimals, fee, terms, allow_programs, signed, release }
      return makeAll(session, own, lockList(session, { ...list, units: { ...units, ...reading, usual } }))
    }
    const plan = lockPlan({ ...usual, amount }, { ...units, shown: flagOf })
    requireSteps([plan], release)
    const request = lockRequest({ mint, recipient, plan, terms }, { allow_programs })
    return runAct(session, own, {
      what: `Lock ${tokensText(plan.amount, decimals)} of ${mint} for ${recipient}`,
      call: (body, options) => session.client.locks.create({ ...request, ...body }, options),
      demand(of, { address }) {
        if (start === undefined && !of.isNow(String(now))) {
          of.apiSays(`the lock starts at ${timeText(isoOf(now))} by the chain's clock`, '--start')
        }
        return demandsLock(of, { address, mint, recipient, plan, terms, decimals, base: null })
      },
      preview: ({ address, rent, deposit, warnings }) => [
        ...scheduleLines(plan, decimals),
        ...termLines(terms),
        ...previewLines({
          lock: address,
          rent: `${solOf(BigInt(rent))} SOL, which closing the lock returns`,
          takes:
            deposit !== String(plan.amount) && `${tokensText(deposit, decimals)} with the transfer fee of the mint`,
        }),
        ...(warnings ?? []).map((warning) => previewLine('warning', printable(warning))),
      ],
      show: (data) => ({
        address: data.address,
        mint,
        recipient,
        amount: data.amount,
        cliff_at: data.cliff_at,
        cliff_amount: data.cliff_amount,
        amount_per_period: data.amount_per_period,
        periods: data.periods,
        ends_at: data.ends_at,
      }),
      decimals: { amount: decimals, cliff_amount: decimals, amount_per_period: decimals },
    })
  },
})
