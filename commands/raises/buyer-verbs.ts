/** `svc raises deposit`, `withdraw`, `claim` and `refund`: with one key, or with a list of own keys. */
import { paths } from '../../src/api/paths.ts'
import { hexOf } from '../../src/solana/bytes.ts'
import { type CommandOutcome, type InputValues, integer, requiredUnless, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { TRUST_JOURNAL } from '../lists/proof.ts'
import { OF_ONE_TRANSACTION } from '../lists/run.ts'
import { SIGN_UNSEEN, SIGNING, type SigningFlags } from '../signing/flags.ts'
import { JOURNAL } from '../tokens/act-inputs.ts'
import { readJson } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import { type BuyerActKind, CLAIM, DEPOSIT, inRound, REFUND, signAct, unitsIn, WITHDRAWAL } from './buyer-acts.ts'
import { RAISE_ARG, readProvenRaise } from './proven-raise.ts'

const { simulate, submit, get, forecast, batchFetch } = paths.transactions
const CALLS = [paths.raises.get, simulate, submit, get, forecast, paths.service.cluster]
const ROUND = integer('Round of the raise, from 1 (default 1)', { min: 1, max: 5 })
const listOfKeys = (columns: string) =>
  text(`CSV of own keys, instead of one: ${columns}`, {
    placeholder: 'FILE',
    existing: true,
    conflicts: ['amount', 'round', 'keypair', 'payer', 'qr', 'squads', ...OF_ONE_TRANSACTION],
  })
/** Of acts with an amount. */
const OF_AMOUNT = {
  raw: toggle('Amounts are raw units, not whole SOL or tokens'),
  round: ROUND,
  from: listOfKeys('keypair,amount,round'),
  journal: JOURNAL,
  sign_unseen: SIGN_UNSEEN,
  trust_journal: TRUST_JOURNAL,
}
const ID = 'GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222'

type BuyerInput = SigningFlags & { raise: string; amount?: string | undefined; proof?: string | undefined } & Partial<
    InputValues<typeof OF_AMOUNT>
  >

async function runBuyer(
  session: Session,
  { raise: id, amount, round = 1, raw = false, from, journal, proof, ...flags }: BuyerInput,
  kind: BuyerActKind,
): Promise<CommandOutcome> {
  const sale = inRound(await readProvenRaise(session, id), round, '--round')
  if (from !== undefined) {
    const { runBuyers } = await import('./buyer-list.ts')
    return runBuyers(session, flags, { kind, raise: sale.raise, raw, file: from, journal })
  }
  const units = amount === undefined ? null : unitsIn(sale.raise, amount, { raw, shown: 'AMOUNT' })
  const line = proof === undefined ? undefined : await readLine(proof)
  return signAct(session, flags, kind.of(session, sale, { units, raw, line }))
}

/** What clients of the program are told for a wallet: `{ deposit_cap, proof }`, with hashes as lists of bytes. */
async function readLine(file: string): Promise<{ cap: string; proof: string[] }> {
  const wrong = (what: string) =>
    usage(`${file}: ${what}`, {
      param: '--proof',
      next: 'give what URL/RAISE/REGISTRY/WALLET answers; `svc raises get` shows the URL',
    })
  const line = (await readJson(file, wrong)) as { deposit_cap?: unknown; proof?: unknown } | null
  const [cap, proof] = [String(line?.deposit_cap), line?.proof]
  const isHash = (hash: unknown) => Array.isArray(hash) && hash.length === 32 && hash.every(isByte)
  if (!/^\d{1,20}$/.test(cap) || !Array.isArray(proof) || !proof.every(isHash))
    throw wrong('it has no deposit_cap and proof')
  return { cap, proof: proof.map((hash) => hexOf(Uint8Array.from(hash))) }
}

const isByte = (value: unknown): value is number => Number.isInteger(value) && (value as number) >>> 8 === 0

export const depositVerb = verb({
  about: 'Buy in a raise: deposit SOL, or what else it takes',
  details:
    'The fee of the round is on top. SOL is wrapped for it. A wallet of a stored allowlist is admitted with its first deposit; for a list that is kept elsewhere, --proof is what its URL answers for the wallet. With --from each row of the CSV is deposited once: run the same command again after any interruption.',
  calls: [paths.raises.deposit, batchFetch, ...CALLS],
  args: {
    raise: RAISE_ARG,
    amount: requiredUnless('from', text('SOL or whole tokens to pay, without the fee', { placeholder: 'AMOUNT' })),
  },
  flags: {
    ...OF_AMOUNT,
    proof: text('The line of an allowlist that is kept elsewhere, a JSON file', {
      placeholder: 'FILE',
      existing: true,
      conflicts: ['from'],
    }),
    ...SIGNING,
  },
  examples: [
    `svc raises deposit ${ID} 1.5`,
    `svc raises deposit ${ID} 1.5 --round 2 -k wallet.json --dry-run`,
    `svc raises deposit ${ID} --from keys.csv --dry-run`,
  ],
  run: (input, session) => runBuyer(session, input, DEPOSIT),
})

export const withdrawVerb = verb({
  about: 'Take a deposit back before a raise ends, where it allows that',
  details: 'The deposit fee is not returned.',
  calls: [paths.raises.withdraw, batchFetch, ...CALLS],
  args: { raise: RAISE_ARG, amount: text('SOL or whole tokens to take (default all)', { placeholder: 'AMOUNT' }) },
  flags: { ...OF_AMOUNT, ...SIGNING },
  examples: [
    `svc raises withdraw ${ID}`,
    `svc raises withdraw ${ID} 0.5 --dry-run`,
    `svc raises withdraw ${ID} --from keys.csv`,
  ],
  run: (input, session) => runBuyer(session, input, WITHDRAWAL),
})

/** An act that pays all that is due. */
const verbOfDue = (kind: BuyerActKind, about: string, details: string) =>
  verb({
    about,
    details,
    calls: [paths.raises[kind.name], ...CALLS],
    args: { raise: RAISE_ARG },
    flags: { round: ROUND, from: listOfKeys('keypair,round'), ...SIGNING },
    examples: [
      `svc raises ${kind.name} ${ID}`,
      `svc raises ${kind.name} ${ID} --round 2 -k wallet.json`,
      `svc raises ${kind.name} ${ID} --from own.csv`,
    ],
    run: (input, session) => runBuyer(session, input, kind),
  })

export const claimVerb = verbOfDue(
  CLAIM,
  'Claim the tokens that you bought in a raise',
  'What has been released so far, and the excess of a pro rata raise with it. The last claim returns the rent of your deposit.',
)

export const refundVerb = verbOfDue(
  REFUND,
  'Take your deposit back from a failed raise, or the excess of a pro rata raise',
  'A failed raise returns deposit and fee, to the unit, and the rent of your deposit.',
)
