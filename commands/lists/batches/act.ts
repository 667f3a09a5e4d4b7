/** What is done to the wallets of a list in batches: the words, the request and the transaction of each act. */
import type { ApiCaller, Session } from '../../cli/session.ts'
import type { ListToken } from '../../merkle/list-units.ts'
import type { BuiltTransactions } from '../../signing/built-transactions.ts'
import {
  type Call,
  type Demand,
  demanding,
  opens,
  type Recipient,
  type Signing,
  sendsTokens,
  TOKEN_PROGRAMS,
} from '../../signing/demand.ts'
import type { TermsField } from '../../signing/flags.ts'
import type { JournalKind } from '../journal.ts'
import {
  type BatchTerms,
  isSentBatch,
  SEND_JOURNAL,
  type SendJournal,
  type SendTerms,
  type SendTermsOfList,
} from './journal.ts'

/** `folder` has the state files that say which journal a list has; without amounts the chain shows what is done. */
const WORDS = {
  send: { title: 'Send', doing: 'Sending', done: 'sent', list: 'recipients', to: 'to', folder: 'sends' },
  mint: { title: 'Mint', doing: 'Minting', done: 'minted', list: 'recipients', to: 'to', folder: 'token-mints' },
  burn: { title: 'Burn', doing: 'Burning', done: 'burned', list: 'holders', to: 'from', folder: 'token-burns' },
  freeze: { title: 'Freeze', doing: 'Freezing', done: 'frozen', list: 'wallets', to: 'of', folder: null },
  thaw: { title: 'Thaw', doing: 'Thawing', done: 'thawed', list: 'wallets', to: 'of', folder: null },
} as const
export type ListedAct = keyof typeof WORDS

export interface SendRow {
  wallet: string
  /** Raw units. */
  amount: bigint
  /**
   * `unknown`: the platform wallet was asked too long ago, or by another caller, so it is not known whether it signed.
   */
  status: 'to send' | 'sent' | 'sent already' | 'claimed' | 'left out' | 'unknown' | 'failed'
  /** Why it is left out, in words. */
  note: string | null
  signature: string | null
  /** Whether its token account is opened; known after planning. */
  opens: boolean
}

/** An answer of the API about a batch. */
export type BatchAnswer =
  | { mode: 'signed'; signature: string }
  | (BuiltTransactions & { mode: 'unsigned'; transaction: string })

export interface WalletAct {
  name: ListedAct
  token: Pick<ListToken, 'mint' | 'decimals'>
  words: (typeof WORDS)[ListedAct]
  /** What happens to a wallet, as in `12 are to be paid`. */
  paid: string
  hasAmounts: boolean
  /** What was done to a wallet with this amount, or is to be done. */
  did(amount: string | undefined, isDone: boolean): string
  journal: JournalKind<SendTerms>
  /** Builds one transaction for the rows, or has the platform wallet sign it. */
  call(
    session: Session,
    body: BatchTerms,
    rows: readonly SendRow[],
    options?: { idempotencyKey: string },
  ): Promise<{ data: BatchAnswer }>
  demand(of: Signing, rows: readonly SendRow[]): Promise<Demand>
}

/** A list that is done to batch by batch, and by whom. */
export interface BatchRun {
  act: WalletAct
  terms: BatchTerms
  txTerms: TermsField
}
export interface SendRun extends BatchRun {
  journal: SendJournal
  keypair: string | undefined
  /** Whether the platform wallet signs. */
  signed: boolean
  /** Who requests its signature. */
  caller: ApiCaller
  /** Whether a batch that no node has shown is signed again without proof. */
  replacesUnseen?: boolean | undefined
  /** Whether a finished batch counts as done although no node has its transaction. */
  isTrusted: boolean
}

export const demandsTransfers = demanding('these transfers', sendsTokens, { inOrder: true })

/** Who is acted on, by a request for one wallet or for a list. */
type WalletActs = { mint: string } & (
  | { act: 'mint' | 'burn'; decimals: number; wallets: readonly Recipient[] }
  | { act: 'freeze' | 'thaw'; wallets: readonly { wallet: string }[] }
)

const CALLS = { mint: 'mintToChecked', burn: 'burnChecked', freeze: 'freezeAccount', thaw: 'thawAccount' } as const

/** One act for each wallet, on its token account, which a mint and a thaw open if it is missing. */
export const demandsActs = demanding(
  'this act on these token accounts, and nothing else',
  async ({ payer, accounts }, { mint, ...asked }: WalletActs): Promise<Call[]> => {
    const callsOf = async (wallet: string, sums: Call['fields']): Promise<Call[]> => {
      const own = await accounts(mint, wallet)
      // Instead of a wallet, the request may name one of its token accounts.
      const account = asked.act === 'mint' ? own : [...own, wallet]
      const fields = { account, mint, authority: payer, ...sums }
      const made = { program: TOKEN_PROGRAMS, call: CALLS[asked.act], fields }
      return asked.act === 'mint' || asked.act === 'thaw' ? [opens(payer, wallet, mint), made] : [made]
    }
    const calls =
      asked.act === 'mint' || asked.act === 'burn'
        ? asked.wallets.map(({ wallet, amount }) => callsOf(wallet, { amount, decimals: asked.decimals }))
        : asked.wallets.map(({ wallet }) => callsOf(wallet, {}))
    return (await Promise.all(calls)).flat()
  },
  { inOrder: true },
)

export function walletAct(name: ListedAct, token: WalletAct['token']): WalletAct {
  const words = WORDS[name]
  const { done, folder } = words
  const hasAmounts = folder !== null
  const { mint, decimals } = token
  return {
    name,
    token,
    words,
    hasAmounts,
    paid: name === 'send' ? 'paid' : done,
    journal: journalKind(name),
    did(amount, isDone) {
      if (name === 'send') return `${isDone ? 'was' : 'is to be'} sent ${amount} raw units`
      return `${isDone ? 'had' : 'is to have'} ${hasAmounts ? `${amount} raw units` : 'its account'} ${done}`
    },
    call({ client: { tokens, tokenTransfers } }, terms, rows, options) {
      const wallets = rows.map(({ wallet }) => wallet)
      const pairs = rows.map(({ wallet, amount }) => ({ wallet, amount: String(amount) }))
      const calls = {
        send: () => tokenTransfers.create({ ...(terms as SendTermsOfList), recipients: pairs }, options),
        mint: () => tokens.mint({ ...terms, recipients: pairs }, options),
        burn: () => tokens.burn({ ...terms, holders: pairs }, options),
        freeze: () => tokens.freeze({ ...terms, wallets }, options),
        thaw: () => tokens.thawList({ ...terms, wallets }, options),
      }
      return calls[name]()
    },
    demand(of, rows) {
      if (name === 'send') return demandsTransfers(of, { mint, decimals, recipients: rows })
      const isOfAccounts = name === 'freeze' || name === 'thaw'
      return demandsActs(of, { mint, wallets: rows, ...(isOfAccounts ? { act: name } : { act: name, decimals }) })
    },
  }
}

function journalKind(name: ListedAct): JournalKind<SendTerms> {
  if (name === 'send') return SEND_JOURNAL
  const { doing, folder } = WORDS[name]
  return {
    kind: `svc-token-${name}s`,
    command: `\`svc tokens ${name}\``,
    doing: doing.toLowerCase(),
    names: { ...SEND_JOURNAL.names, payer: 'the signer' },
    anew: 'do the list as a new one',
    loss: `another --journal ${folder === null ? 'has no transactions of earlier runs' : 'does everything again'}`,
    isEntry: isSentBatch,
  }
}
