/** `svc wallet send`: SOL or a token from your wallet to another. */
import { paths } from '../../src/api/paths.ts'
import type { SolTransfer } from '../../src/api/sol-transfers.ts'
import type { TokenTransfer } from '../../src/api/token-transfers.ts'
import { isAddress } from '../../src/solana/addresses.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import { mintAddress, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { demanding, pays, sendsTokens } from '../signing/demand.ts'
import { ALLOW_PROGRAMS, buildFields, SIGNING, type SigningFlags } from '../signing/flags.ts'
import { runSigned } from '../signing/run.ts'
import { mintState } from '../signing/token-state.ts'
import { Problem, usage } from '../ui/problem.ts'

const ONE_TRANSFER = 'one transfer, of this amount to this recipient'
const demandsSol = demanding(
  ONE_TRANSFER,
  ({ payer }, { recipient, lamports }: Pick<SolTransfer, 'recipient' | 'lamports'>) => [
    pays(payer, recipient, lamports),
  ],
)
const demandsToken = demanding(ONE_TRANSFER, sendsTokens)

const { submit, get, simulate } = paths.transactions
const ALL = 'all'

export const send = verb({
  about: 'Send SOL or a token to another wallet',
  details:
    'Shows what the transaction changes before it asks you. If the recipient has no token account, one is opened at your cost. If no answer came, check `svc wallet balance` before you send again: each run is another transfer. To pay many wallets, each once, use `svc airdrops send`.',
  calls: [
    paths.solTransfers.create,
    paths.tokenTransfers.create,
    paths.accounts.get,
    paths.tokenTransfers.plan,
    simulate,
    submit,
    get,
  ],
  args: {
    to: required(text('Address, or name of a wallet of yours', { placeholder: 'RECIPIENT' })),
    amount: required(text('SOL or whole tokens, like 1.5, or all', { placeholder: 'AMOUNT' })),
  },
  flags: {
    mint: mintAddress('Send the token of this mint or symbol instead of SOL'),
    allow_programs: ALLOW_PROGRAMS,
    accept_transfer_fee: toggle('Send a token with a transfer fee', { needs: ['mint'] }),
    ...SIGNING,
  },
  examples: [
    'svc wallet send 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 1.5',
    'svc wallet send treasury all --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY -k ops',
    'svc wallet send 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 0.25 --dry-run',
  ],
  async run({ to: named, amount, mint, ...flags }, session) {
    const recipient = isAddress(named) ? named : await addressOfWallet(session, named)
    if (mint !== undefined) return sendToken(session, flags, { recipient, amount, mint })
    return sendSol(session, flags, { recipient, amount })
  },
})

async function addressOfWallet({ wallet }: Session, named: string): Promise<string> {
  try {
    return await wallet.address(named)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw usage(`RECIPIENT is not an address, and ${error.message}`, {
      param: 'RECIPIENT',
      next: 'give the address itself, or a wallet of `svc wallet list`',
    })
  }
}

type SendFlags = SigningFlags & { allow_programs: boolean; accept_transfer_fee: boolean }

function sendSol(
  session: Session,
  { allow_programs, ...flags }: SendFlags,
  { recipient, amount }: { recipient: string; amount: string },
) {
  const lamports = amount === ALL ? ALL : String(moreThanNothing(rawUnits(amount, LAMPORT_DECIMALS, 'AMOUNT')))
  return runSigned<SolTransfer>(session, flags, {
    what: ({ lamports: sent }) => `Send ${solOf(BigInt(sent))} SOL to ${recipient}`,
    build: (payer) =>
      session.client.solTransfers.create({ payer, recipient, lamports, allow_programs, ...buildFields(flags) }),
    demand: (of, data) => demandsSol(of, { recipient, lamports: lamports === ALL ? data.lamports : lamports }),
    show: ({ lamports: sent, fee }) => ({ recipient, lamports: sent, fee }),
    decimals: () => ({ lamports: LAMPORT_DECIMALS, fee: LAMPORT_DECIMALS }),
  })
}

async function sendToken(
  session: Session,
  { allow_programs, accept_transfer_fee, ...flags }: SendFlags,
  { recipient, amount, mint }: { recipient: string; amount: string; mint: string },
) {
  if (!isAddress(mint)) throw usage(`--mint must be the address of a mint, not "${mint}"`, { param: '--mint' })
  const { decimals } = await mintState(session, mint)
  const given = amount === ALL ? null : moreThanNothing(rawUnits(amount, decimals, 'AMOUNT'))
  return runSigned<Extract<TokenTransfer, { mode: 'unsigned' }>>(session, flags, {
    what: ({ total }) => `Send ${groupedDecimalOf(BigInt(total), decimals)} of the token ${mint} to ${recipient}`,
    async build(payer) {
      const units = given ?? (await heldBy(session, { payer, mint, wallet: recipient }))
      const recipients = [{ wallet: recipient, amount: String(units) }]
      const terms = { allow_programs, accept_transfer_fee, ...buildFields(flags) }
      const { data } = await session.client.tokenTransfers.create({ payer, mint, recipients, ...terms })
      if (data.mode === 'signed') throw new Error('the daemon signed a transfer without being asked to')
      return { data }
    },
    demand: (of, { total }) =>
      demandsToken(of, { mint, decimals, recipients: [{ wallet: recipient, amount: given ?? total }] }),
    preview: ({ rent }) => (rent === '0' ? [] : [`Opens the recipient's token account for ${solOf(BigInt(rent))} SOL`]),
    show: ({ total, recipients }) => ({ recipient, mint, amount: total, token_account: recipients[0]?.token_account }),
    decimals: () => ({ amount: decimals }),
  })
}

/** What is in the token account that a transfer takes from. */
async function heldBy({ client }: Session, request: { payer: string; mint: string; wallet: string }): Promise<bigint> {
  const { payer, mint, wallet } = request
  const { data } = await client.tokenTransfers.plan({
    payer,
    mint,
    recipients: [{ wallet, amount: '1' }],
    accept_transfer_fee: true,
  })
  if (data.held === '0') throw usage(`${payer} has nothing of the token ${mint}`, { param: 'AMOUNT' })
  return BigInt(data.held)
}

function moreThanNothing(units: bigint): bigint {
  if (units > 0n) return units
  throw usage('AMOUNT must be more than 0', { param: 'AMOUNT' })
}
